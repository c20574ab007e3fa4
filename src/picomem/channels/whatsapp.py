"""WhatsApp over Meta's Cloud API: reads webhooks, builds and sends messages.

A webhook carries messages, or statuses of sent messages. A sender has a phone number (`from`), a business-scoped id
(`from_user_id`), or both. For a message that is not text, only its caption is read. sessions/channel_users.py decides
which user a sender is. A message of the type `system` reports that a sender has a new number, and with it a new
business-scoped id.

The API has no idempotency key. `biz_opaque_callback_data` comes back in the statuses of a message, so the status shows
that a message was sent although its sending was interrupted.
"""

from __future__ import annotations

import hmac
import re
import ssl
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import httpx2

from picomem.channels.answering import Delivery, SendOutcome
from picomem.clock import SECOND, Micros
from picomem.engine.channel_contacts import ChangedIds
from picomem.engine.channel_log import Incoming
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.records.channel_message import ChannelMessage
from picomem.records.session import Channel
from picomem.sessions.channel_users import LID, PARENT, PHONE, SCOPED, USERNAME, identifying, kind_of
from picomem.settings import checked_url
from picomem.settings_tables import KEYS_OF_AN_ACCOUNT, WhatsAppSettings

DIRECT = "direct"
_DAY_SECONDS = 86_400.0
_LONGEST = 4_000  # characters; the API takes 4,096
_NOT_SAID = {"reaction", "system", "unsupported", "unknown", "ephemeral", "request_welcome", "order"}
_CHANGES = {"user_changed_number", "user_changed_user_id"}
_WINDOW_CLOSED = 131047
_SIGNATURE = re.compile("sha256=[0-9a-f]{64}")
_LID = re.compile(r"(\d{1,30})(?::\d+)?@lid", re.ASCII)
_JID = re.compile(r"(\d{1,20})(?::\d+)?@(?:s\.whatsapp\.net|c\.us)", re.ASCII)
_SCOPED_ID = re.compile(r"[A-Z]{2}\.[\w.-]{1,200}", re.ASCII)
_LIMITS = {4, 80007, 130429, 131048, 131056, 133016}  # error codes: too many messages for now
_LATER = {1, 2, 131000, 131016}  # error codes: the service fails for now; it may have taken the message
_LIMIT_SECONDS = 5.0
_KEY_SECONDS = 60.0  # until the next try where the API refuses our token
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class SendStatus:
    """The delivery status of a sent message; `problem` is empty unless it failed."""

    message_id: str
    native_id: str
    problem: str


def settings_of_accounts(settings: WhatsAppSettings) -> dict[str, WhatsAppSettings]:
    """The settings of each account, by the name of its table. Raises InvalidInput where two have the same name or phone
    number."""
    accounts = {"whatsapp": replace(settings, accounts=())} if settings.account else {}
    for account in settings.accounts:
        own = {key: getattr(account, key) for key in ("account", *KEYS_OF_AN_ACCOUNT)}
        accounts[f"whatsapp.accounts.{account.account}"] = replace(settings, accounts=(), **own)
    for key in ("account", "phone_number_id"):
        values = [value for account in accounts.values() if (value := getattr(account, key))]
        if twice := next((value for value in values if values.count(value) > 1), ""):
            raise InvalidInput(f"[whatsapp] has two accounts with the same {key}, “{twice}”; give each its own.")
    return accounts


def is_signature(signature: str) -> bool:
    """Return whether a header has the form of a signature, so that there is a reason to read the body."""
    return _SIGNATURE.fullmatch(signature) is not None


def is_signed(body: bytes, signature: str, secret: str) -> bool:
    """Return whether Meta signed this very body: `sha256=` and the HMAC in hex. Compared in constant time."""
    expected = "sha256=" + hmac.new(secret.encode(), body, "sha256").hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


def statuses_in(payload: Mapping[str, Any], phone_number_id: str) -> list[SendStatus]:
    """The statuses that tell something of our messages."""
    statuses: list[SendStatus] = []
    for value in _values(payload, phone_number_id):
        for status in _objects(value.get("statuses")):
            data = status.get("biz_opaque_callback_data")
            if isinstance(data, str) and data:
                failed = status.get("status") == "failed"
                problem = "; ".join(_problem(error) for error in _objects(status.get("errors"))) or "it failed"
                statuses.append(SendStatus(data, str(status.get("id") or ""), problem if failed else ""))
    return statuses


def other_numbers(payload: Mapping[str, Any], phone_number_id: str) -> list[str]:
    """The ids of the phone numbers in a webhook that are not the account's."""
    return sorted({number for number, _ in _values_by_number(payload)} - {phone_number_id})


def messages_in(
    payload: Mapping[str, Any], settings: WhatsAppSettings, names: Sequence[str], now: Micros
) -> list[Incoming]:
    """The messages, in the order in which they come. What has no id or no sender at all cannot be answered."""
    messages: list[Incoming] = []
    for value in _values(payload, settings.phone_number_id):
        own_number = _digits((value.get("metadata") or {}).get("display_phone_number"))
        for message, contact in _messages_with_contacts(value):
            ids = _ids(message, contact)
            native_id = message.get("id")
            if not (isinstance(native_id, str) and native_id and identifying(ids)):
                continue
            if message.get("type") in _NOT_SAID:
                continue
            group = message.get("group_id")
            text = _text(message)
            quoted = message.get("context")
            answers_us = isinstance(quoted, dict) and bool(own_number) and _digits(quoted.get("from")) == own_number
            messages.append(
                Incoming(
                    channel=Channel.WHATSAPP.value,
                    account=settings.account,
                    conversation=f"group:{group}" if group else DIRECT,
                    native_id=native_id,
                    native_ids=ids,
                    address=f"group:{group}" if group else ids[0],
                    name=str((contact.get("profile") or {}).get("name") or "") if contact else "",
                    is_group=bool(group),
                    is_addressed=not group or answers_us or is_named(text, names),
                    text=text,
                    said_at=_time(message.get("timestamp"), now),
                )
            )
    return messages


def changes_in(payload: Mapping[str, Any], settings: WhatsAppSettings) -> list[ChangedIds]:
    """The senders who have another phone number or business-scoped id from now on."""
    changes: list[ChangedIds] = []
    for value in _values(payload, settings.phone_number_id):
        for message in _objects(value.get("messages")):
            system = message.get("system")
            if message.get("type") != "system" or not isinstance(system, dict):
                continue
            new = _ids({}, system)
            before = {**message, "user_id": system.get("previous_user_id")}
            old = tuple(native_id for native_id in _ids(before, before) if native_id not in new)
            if system.get("type") in _CHANGES and old and new:
                changes.append(ChangedIds(channel=Channel.WHATSAPP.value, account=settings.account, old=old, new=new))
    return changes


def is_named(text: str, names: Iterable[str]) -> bool:
    """Return whether a text calls one of the names."""
    return any(re.search(rf"(?<!\w)@?{re.escape(name)}(?!\w)", text, re.IGNORECASE) for name in names if name)


def document_of(message: ChannelMessage) -> dict[str, Any]:
    """The request that sends a message."""
    kind, _, address = message.address.partition(":")
    recipient = {"recipient": address} if kind in (SCOPED, PARENT) else {"to": address}
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "group" if kind == "group" else "individual",
        **recipient,
        "type": "text",
        "text": {"body": message.text, "preview_url": False},
        "biz_opaque_callback_data": message.id,
    }


def delivery_of(status: int, body: Any, retry_after: str = "") -> Delivery:
    """Read the delivery of a message from an answer of the API."""
    body = body if isinstance(body, dict) else {}
    if 200 <= status < 300:
        native_id = next((str(sent.get("id") or "") for sent in _objects(body.get("messages"))), "")
        if native_id:
            return Delivery(outcome=SendOutcome.SENT, native_id=native_id)
        return Delivery(outcome=SendOutcome.UNSURE, reason="The API gave no id for the message.")
    error = body.get("error") if isinstance(body.get("error"), dict) else {}
    code, reason = error.get("code"), f"{_problem(error)} (HTTP {status})"
    if code == _WINDOW_CLOSED:
        return Delivery(outcome=SendOutcome.CLOSED, reason=reason)
    if status == 429 or code in _LIMITS:
        seconds = float(retry_after) if retry_after.isdigit() else _LIMIT_SECONDS
        return Delivery(outcome=SendOutcome.LATER, reason=reason, wait_seconds=seconds)
    if status >= 500 or code in _LATER:
        return Delivery(outcome=SendOutcome.UNSURE, reason=reason)
    if status in (401, 403) or code == 190:
        return Delivery(outcome=SendOutcome.LATER, reason=reason, wait_seconds=_KEY_SECONDS)
    return Delivery(outcome=SendOutcome.REFUSED, reason=reason)


class WhatsAppAccount:
    """An account that sends."""

    channel = Channel.WHATSAPP.value
    longest = _LONGEST
    window_seconds = _DAY_SECONDS
    instructions = "This conversation is on WhatsApp: answer in plain text, without headings and tables, and briefly."

    def __init__(self, settings: WhatsAppSettings, table: str) -> None:
        """`table` is the name of its table of settings. Raises InvalidInput where one is missing, or the address is
        none."""
        for name in ("phone_number_id", "app_secret", "access_token", "verify_token"):
            if not getattr(settings, name):
                variable = f"PICOMEM_{table}_{name}".replace(".", "_").upper()
                raise InvalidInput(
                    f"{table}.{name} is missing, and there is an account “{settings.account}”; set {variable}, or "
                    f"{name} in [{table}]."
                )
        self.account = settings.account
        base_url = checked_url(settings.base_url, "whatsapp.base_url")
        self._url = f"{base_url}/{settings.version}/{settings.phone_number_id}/messages"
        self._token = settings.access_token
        self._timeout = settings.timeout_secs

    async def send(self, message: ChannelMessage) -> Delivery:
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with httpx2.AsyncClient(timeout=self._timeout, trust_env=False, verify=_tls()) as client:
                answer = await client.post(self._url, json=document_of(message), headers=headers)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            return Delivery(outcome=SendOutcome.LATER, reason=f"The API cannot be reached: {error}")
        except httpx2.HTTPError as error:
            return Delivery(outcome=SendOutcome.UNSURE, reason=f"The API did not answer: {type(error).__name__}")
        try:
            body = answer.json()
        except ValueError:
            body = None
        return delivery_of(answer.status_code, body, answer.headers.get("Retry-After", ""))


@cache
def _tls() -> ssl.SSLContext:
    """What all clients trust: reading the certificates takes 20 ms, for every message if each client did it."""
    return httpx2.create_ssl_context(trust_env=False)


def _values(payload: Mapping[str, Any], phone_number_id: str) -> list[Mapping[str, Any]]:
    """Return the events on our phone number."""
    return [value for number, value in _values_by_number(payload) if number == phone_number_id]


def _values_by_number(payload: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the events of all phone numbers, each with the id of its number."""
    values: list[tuple[str, Mapping[str, Any]]] = []
    for entry in _objects(payload.get("entry")):
        for change in _objects(entry.get("changes")):
            value = change.get("value")
            metadata = value.get("metadata") if isinstance(value, dict) else None
            if isinstance(value, dict) and isinstance(metadata, dict):
                values.append((str(metadata.get("phone_number_id")), value))
    return values


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _messages_with_contacts(value: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The messages, each with the contact who sent it, or an empty one."""
    messages, contacts = _objects(value.get("messages")), _objects(value.get("contacts"))
    return [(message, _contact_of(message, contacts, is_only=len(messages) == 1)) for message in messages]


def _contact_of(
    message: Mapping[str, Any], contacts: Sequence[Mapping[str, Any]], *, is_only: bool
) -> Mapping[str, Any]:
    """The contact who sent a message. One that names no sender is the only contact's if it is the only message."""
    for contact in contacts:
        pairs = ((contact.get("wa_id"), message.get("from")), (contact.get("user_id"), message.get("from_user_id")))
        if any(one and one == other for one, other in pairs):
            return contact
    is_sure = is_only and len(contacts) == 1 and not message.get("from") and not message.get("from_user_id")
    return contacts[0] if is_sure else {}


def _ids(message: Mapping[str, Any], contact: Mapping[str, Any]) -> tuple[str, ...]:
    """The sender's ids: a phone number first, to which Meta recommends to send, and a user name last. Where message and
    contact differ in a business-scoped id, the message counts."""
    profile = contact.get("profile")
    username = profile.get("username") if isinstance(profile, dict) else None
    ids = [
        *_address_ids(message.get("from")),
        *_address_ids(contact.get("wa_id")),
        *_scoped_ids(SCOPED, message.get("from_user_id") or contact.get("user_id")),
        *_scoped_ids(PARENT, message.get("from_parent_user_id") or contact.get("parent_user_id")),
        *_scoped_ids(USERNAME, username.lower() if isinstance(username, str) else None),
    ]
    order = (PHONE, SCOPED, PARENT, LID, USERNAME)
    return tuple(sorted(dict.fromkeys(ids), key=lambda native_id: order.index(kind_of(native_id))))


def _address_ids(address: Any) -> list[str]:
    """The id in an address: a phone number, a business-scoped id in its place, or a JID, as in
    `351912345678:12@s.whatsapp.net` and `221400000000000@lid`."""
    text = address if isinstance(address, str) else ""
    if lid := _LID.fullmatch(text):
        return [f"{LID}:{lid[1]}@lid"]
    if _SCOPED_ID.fullmatch(text):
        return _scoped_ids(SCOPED, text)
    jid = _JID.fullmatch(text)
    phone = _digits(jid[1] if jid else text)
    return [f"{PHONE}:{phone}"] if phone else []


def _scoped_ids(kind: str, value: Any) -> list[str]:
    return [f"{kind}:{value}"] if isinstance(value, str) and re.fullmatch(r"[\w.:-]{1,200}", value) else []


def _digits(value: Any) -> str:
    """A phone number without its dressing; empty for what is none."""
    text = re.sub(r"[\s()+-]", "", value) if isinstance(value, str) else ""
    return text if text.isascii() and text.isdigit() and len(text) <= 20 else ""


def _text(message: Mapping[str, Any]) -> str:
    kind = message.get("type")
    content = message.get(kind) if isinstance(kind, str) else None
    if not isinstance(content, dict):
        return ""
    if kind == "interactive":
        reply = next(iter(_objects([content.get("button_reply"), content.get("list_reply")])), {})
        text = reply.get("title")
    else:
        text = content.get({"text": "body", "button": "text"}.get(str(kind), "caption"))
    return text if isinstance(text, str) else ""


def _time(value: Any, now: Micros) -> Micros:
    """A time of the API, in seconds; now, for one that cannot be."""
    text = str(value)
    at = int(text) * SECOND if text.isascii() and text.isdigit() and len(text) <= 11 else now
    return min(at, now)


def _problem(error: Mapping[str, Any]) -> str:
    said = error.get("message") or error.get("title") or "no reason given"
    code = error.get("code")
    return f"{said}{f' ({code})' if code else ''}"[:_LONGEST_REASON]
