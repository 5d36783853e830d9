"""The chat-completions wire, as OpenAI, llama.cpp, vLLM, Ollama and the routers in front of them speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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


class ChatCompletions:
    """The dialect ``openai-compatible``."""

    endpoint = "/chat/completions"
    headers: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset(
        (
            *("model", "messages", "stream", "stream_options", "max_tokens", "stop", "response_format"),
            *("tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "verbosity"),
            *("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty"),
        )
    )
    tools: tuple[str | None, ...] = ("function",)

    def authorization(self, key: Secret) -> dict[str, str]:
        """The key as a bearer token."""
        return {"Authorization": f"Bearer {key.reveal()}"}

    def additions(self, *, stream: bool) -> Document:
        """Strict providers report a stream's usage only if asked."""
        return {"stream_options": {"include_usage": True}} if stream else {}

    def read(self, content_type: str, body: bytes) -> Answer:
        """Choices of deltas or messages; the last usage and error that are told."""
        form, events, done = parts(content_type, body)
        reading = _Reading()
        last: Document = {}
        for event in events:
            for choice in objects_in(event.get("choices")):
                reading.choice(choice)
            last |= {key: value for key, value in event.items() if value is not None and key != "choices"}
        return Answer(
            form=form,
            model=text_in(last.get("model")),
            fingerprint=text_in(last.get("system_fingerprint")),
            finish=reading.finish,
            done=done,
            calls=reading.calls,
            text="".join(reading.texts),
            usage=_usage(last.get("usage")),
            error=error_in(last),
        )

    def heard(self, request: Document) -> Iterator[Heard]:
        """The messages that are not the assistant's."""
        for message in objects_in(request.get("messages")):
            role = text_in(message.get("role")) or ""
            if role != "assistant":
                yield Heard(role, texts_in(message.get("content")), text_in(message.get("tool_call_id")))

    def closing(self, text: str, *, stream: bool) -> bytes:
        """One choice that says ``text`` and stops."""
        said = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "delta" if stream else "message": said}
        kind = "chat.completion.chunk" if stream else "chat.completion"
        answer = json.dumps(
            {"id": "nanobench", "object": kind, "created": 0, "model": "nanobench", "choices": [choice]}
        )
        return f"data: {answer}\n\ndata: [DONE]\n\n".encode() if stream else answer.encode()

    def error(self, message: str, code: str) -> Document:
        """An error object."""
        return {"error": {"message": message, "type": "gateway_error", "code": code}}


@define
class _Told:
    """A call as far as it was told: the first of its ids and names, and all of its arguments."""

    id: str = ""
    name: str = ""
    arguments: list[str] = Factory(list)


@define
class _Reading:
    finish: str | None = None
    texts: list[str] = Factory(list)
    told: dict[tuple[int, int], _Told] = Factory(dict)
    """By choice and place."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """What is called."""
        return tuple(Call(id=c.id, name=c.name, arguments="".join(c.arguments)) for c in self.told.values())

    def choice(self, choice: Document) -> None:
        self.finish = text_in(choice.get("finish_reason")) or self.finish
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            self.texts.append(text_in(message.get("content")) or "")
            where = choice.get("index", 0)
            for place, call in enumerate(objects_in(message.get("tool_calls"))):
                key = number_in(where) or 0, number_in(call.get("index", place)) or 0
                told, function = self.told.setdefault(key, _Told()), object_in(call.get("function"))
                told.id = told.id or text_in(call.get("id")) or ""
                told.name = told.name or text_in(function.get("name")) or ""
                told.arguments.append(text_in(function.get("arguments")) or "")


def _usage(usage: Any) -> TokenCount | None:
    """Of a cache OpenAI tells what was read, OpenRouter also what was written."""
    if not isinstance(usage, dict):
        return None
    counts = number_in(usage.get("prompt_tokens")), number_in(usage.get("completion_tokens"))
    if counts[0] is None or counts[1] is None:
        return None
    details = object_in(usage.get("prompt_tokens_details"))
    read, written = (number_in(details.get(key)) for key in ("cached_tokens", "cache_write_tokens"))
    return TokenCount(input=counts[0], output=counts[1], cached=read, written=written)
