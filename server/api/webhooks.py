"""Webhooks: where a team is told that an evaluation has ended."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from core.tables import Webhook, WebhookDelivery
from server import webhooks
from server.access import SUBMITTERS, only
from server.addresses import number
from server.api.account_schemas import DeliveriesOut, DeliveryOut, NewWebhookOut, WebhookIn, WebhooksOut
from server.api.documents import answers
from server.context import services, signed_in
from server.limits import limited

bp = APIBlueprint("webhooks", __name__, url_prefix="/webhooks", tag="Webhooks")


@bp.get("")
@only(*SUBMITTERS)
@bp.output(WebhooksOut)
@answers(bp, 403)
def listed() -> dict[str, list[Webhook]]:
    """The team's webhooks, without their secrets"""
    with services().database.reading() as session:
        return {"webhooks": webhooks.listed(session, signed_in().team_id)}


@bp.post("")
@limited("files")
@only(*SUBMITTERS)
@bp.input(WebhookIn)
@bp.output(NewWebhookOut, status_code=201)
@answers(bp, 400, 403, 409, 413)
def add(json_data: dict[str, str]) -> Webhook:
    """Add an address; the secret that signs its messages is shown this once"""
    with services().database.transaction() as session:
        return webhooks.add(session, services().settings, signed_in().team_id, json_data["url"])


@bp.delete("/<webhook_id>")
@only(*SUBMITTERS)
@bp.output({}, status_code=204)
@answers(bp, 403, 404)
def remove(webhook_id: str) -> str:
    """Remove an address with its messages"""
    with services().database.transaction() as session:
        session.delete(webhooks.own(session, signed_in().team_id, number(webhook_id, "webhook")))
    return ""


@bp.post("/<webhook_id>/ping")
@limited("files")
@only(*SUBMITTERS)
@bp.output(DeliveryOut, status_code=202)
@answers(bp, 403, 404)
def ping(webhook_id: str) -> WebhookDelivery:
    """Queue a message that shows whether the address works"""
    with services().database.transaction() as session:
        return webhooks.ping(
            session, services().queue, webhooks.own(session, signed_in().team_id, number(webhook_id, "webhook"))
        )


@bp.get("/<webhook_id>/deliveries")
@only(*SUBMITTERS)
@bp.output(DeliveriesOut)
@answers(bp, 403, 404)
def deliveries(webhook_id: str) -> dict[str, Any]:
    """The newest messages to an address, and how they went"""
    with services().database.reading() as session:
        hook = webhooks.own(session, signed_in().team_id, number(webhook_id, "webhook"))
        return {"deliveries": webhooks.deliveries(session, hook)}
