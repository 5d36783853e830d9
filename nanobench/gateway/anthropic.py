"""Anthropic's Messages wire: https://docs.anthropic.com/en/api/messages and its streaming events."""

from __future__ import annotations

import json
from collections.abc import Iterator

from attrs import Factory, define

from nanobench.gateway.answer import (
    Answer,
    Call,
    Heard,
    TokenCount,
    error_in,
    number_in,
    object_in,
    objects_in,
    parts,
    text_in,
    texts_in,
)
from nanobench.gateway.upstream import Secret
from nanobench.model.fields import Document


class Messages:
    """The dialect ``anthropic``."""

    endpoint = "/messages"
    headers: tuple[str, ...] = ("anthropic-version", "anthropic-beta")
    keys: frozenset[str] = frozenset(
        (
            *("model", "messages", "system", "stream", "max_tokens", "stop_sequences", "thinking"),
            *("tools", "tool_choice", "temperature", "top_p", "top_k"),
        )
    )
    tools: tuple[str | None, ...] = (None, "custom")

    def authorization(self, key: Secret) -> dict[str, str]:
        """The key in a header of its own."""
        return {"x-api-key": key.reveal()}

    def additions(self, *, stream: bool) -> Document:
        """Nothing: usage is always told."""
        del stream
        return {}

    def read(self, content_type: str, body: bytes) -> Answer:
        """Content blocks, in events or in one message. Usage counts once the final event has told the output."""
        form, events, _ = parts(content_type, body)
        blocks: list[_Block] = []
        texts: list[str] = []
        usage: Document = {}
        finish, error, model = None, None, None
        for event in events:
            message = object_in(event.get("message")) or event  # the first event holds what there is of a message
            begun = objects_in([event.get("content_block"), *objects_in(message.get("content"))])
            blocks += map(_Block, begun)
            if blocks:  # the parts of an input follow the block that they belong to
                blocks[-1].written.append(text_in(object_in(event.get("delta")).get("partial_json")) or "")
            texts += [text_in(part.get("text")) or "" for part in (*begun, object_in(event.get("delta")))]
            model = text_in(message.get("model")) or model
            usage |= {name: count for name, count in object_in(message.get("usage")).items() if count is not None}
            finish = text_in((object_in(event.get("delta")) or event).get("stop_reason")) or finish
            error = error_in(event) or error
        return Answer(
            form=form,
            model=model,
            finish=finish,
            done=any(event.get("type") == "message_stop" for event in events),
            calls=tuple(block.call() for block in blocks if block.begun.get("type") == "tool_use"),
            text="".join(texts),
            usage=_usage(usage) if finish is not None else None,
            error=error,
        )

    def heard(self, request: Document) -> Iterator[Heard]:
        """The system's words, results of tools (which answer in the user's name), and what users say."""
        if system := texts_in(request.get("system")):
            yield Heard("system", system)
        for message in objects_in(request.get("messages")):
            if message.get("role") == "assistant":
                continue
            for block in objects_in(message.get("content")):
                if block.get("type") == "tool_result":
                    yield Heard("tool", texts_in(block.get("content")), text_in(block.get("tool_use_id")))
            if said := texts_in(message.get("content")):
                yield Heard(text_in(message.get("role")) or "", said)

    def closing(self, text: str, *, stream: bool) -> bytes:
        """A message of one block that says ``text`` and ends the turn."""
        head = {"id": "nanobench", "type": "message", "role": "assistant", "model": "nanobench"}
        none = {"input_tokens": 0, "output_tokens": 0}
        block, end = {"type": "text", "text": text}, {"stop_reason": "end_turn", "stop_sequence": None}
        if not stream:
            return json.dumps({**head, "content": [block], **end, "usage": none}).encode()
        start: Document = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": none}
        events: list[Document] = [
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": none},
            {"type": "message_stop"},
        ]
        return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)

    def error(self, message: str, code: str) -> Document:
        """An error event."""
        return {"type": "error", "error": {"type": code, "message": message}}


@define
class _Block:
    """A content block as it begins, and the parts of its input that come after."""

    begun: Document
    written: list[str] = Factory(list)

    def call(self) -> Call:
        """The call that it is."""
        at_once = json.dumps(object_in(self.begun.get("input")), ensure_ascii=False)
        return Call(
            id=text_in(self.begun.get("id")) or "",
            name=text_in(self.begun.get("name")) or "",
            arguments="".join(self.written) or text_in(at_once) or "",
        )


def _usage(usage: Document) -> TokenCount | None:
    """Input is told in three parts: what is new, what was read from the cache, what was written to it. One that is
    no count makes the whole unknown."""
    fresh, output = number_in(usage.get("input_tokens")), number_in(usage.get("output_tokens"))
    read, written = (number_in(usage.get(f"cache_{name}_input_tokens", 0)) for name in ("read", "creation"))
    if fresh is None or output is None or read is None or written is None:
        return None
    return TokenCount(input=fresh + read + written, output=output, cached=read, written=written)
