"""Anonymous tokens of public image registries: https://distribution.github.io/distribution/spec/auth/token/."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

from nanobench.ecosystems.online import Online, Unreachable
from nanobench.ecosystems.registries import safe
from nanobench.formats import json

_MAX_TOKEN = 64 << 10
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')


def authorization(base: str, repository: str, *, online: Online) -> dict[str, str]:
    """The headers with which the registry at ``base`` lets anybody pull from ``repository``; none where it asks none.

    Raises:
        Gone, Unreachable: when it does not answer, or wants a login.
    """
    wanted = online.challenge(f"{base}/")
    if wanted is None:
        return {}
    scheme, _, rest = wanted.partition(" ")
    asked = dict(_PARAMETER.findall(rest))
    realm = asked.get("realm", "")
    if scheme.lower() != "bearer" or _scheme(realm) not in ("https", urlsplit(base).scheme):
        raise Unreachable(f"{safe(base)}: it wants a login, and only anonymous pulls are made")
    query = {"scope": f"repository:{repository}:pull"} | {k: v for k, v in asked.items() if k == "service"}
    answer = online.get(f"{realm}?{urlencode(query)}", limit=_MAX_TOKEN, accept="application/json")
    return {"Authorization": f"Bearer {_token(answer.content, realm)}"}


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:  # brackets that do not close
        return ""


def _token(answer: bytes, realm: str) -> str:
    try:
        document = json.foreign(answer)
        token = document.get("token") or document.get("access_token")
    except (ValueError, AttributeError):
        token = None
    if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise Unreachable(f"{safe(realm)}: no token in its answer")
    return token
