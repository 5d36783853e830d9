"""The chat-completions wire, as OpenAI, llama.cpp, vLLM, Ollama and the routers in front of them speak it."""

from __future__ import annotations

import json
from typing import Any

from attrs import Factory, define

from nanobench.gateway.answer import Answer, TokenCount, error_in, number_in, object_in, objects_in, parts, text_in
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
            finish=reading.finish,
            done=done,
            tool_calls=len(reading.calls),
            unsound=any(len(parts) < 2 for parts in reading.calls.values()),
            text="".join(reading.texts),
            usage=_usage(last.get("usage")),
            error=error_in(last),
        )

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
class _Reading:
    finish: str | None = None
    texts: list[str] = Factory(list)
    calls: dict[tuple[int, int], set[str]] = Factory(dict)
    """By choice and place: which of its id and its name a call has told."""

    def choice(self, choice: Document) -> None:
        self.finish = text_in(choice.get("finish_reason")) or self.finish
        message = choice.get("delta") or choice.get("message")
        if isinstance(message, dict):
            self.texts.append(text_in(message.get("content")) or "")
            where = choice.get("index", 0)
            for place, call in enumerate(objects_in(message.get("tool_calls"))):
                told = self.calls.setdefault((number_in(where) or 0, number_in(call.get("index", place)) or 0), set())
                told |= {"id"} if text_in(call.get("id")) else set()
                told |= {"name"} if text_in(object_in(call.get("function")).get("name")) else set()


def _usage(usage: Any) -> TokenCount | None:
    if not isinstance(usage, dict):
        return None
    counts = number_in(usage.get("prompt_tokens")), number_in(usage.get("completion_tokens"))
    if counts[0] is None or counts[1] is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = number_in(details.get("cached_tokens")) if isinstance(details, dict) else None
    return TokenCount(input=counts[0], output=counts[1], cached=cached)
