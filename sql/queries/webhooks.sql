-- Webhooks and their deliveries.

-- name: add_webhook
select to_jsonb(webhook) as record
  from "unstuck".add_webhook(/*attachment*/'native', $1::text, $2::text, $3::text[], $4::text, $5::text) webhook;

-- name: list_webhooks
select to_jsonb(webhook) as record from "unstuck".list_webhooks(/*attachment*/'native') webhook;

-- name: remove_webhook
select "unstuck".remove_webhook(/*attachment*/'native', $1::text::uuid, $2::text, $3::text) as is_removed;

-- name: switch_webhook
select to_jsonb(webhook) as record
  from "unstuck".switch_webhook(/*attachment*/'native', $1::text::uuid, $2::boolean, $3::text, $4::text) webhook;

-- name: take_deliveries
select * from "unstuck".take_deliveries(/*attachment*/'native', $1::int, $2::bigint);

-- name: record_delivery
select "unstuck".settle_delivery(
         /*attachment*/'native', $1::text::uuid, $2::int, $3::boolean, $4::int, $5::text, $6::boolean) as outcome;

-- name: list_deliveries
select to_jsonb(delivery) as record
  from "unstuck".list_deliveries(/*attachment*/'native', $1::text::uuid, $2::text, $3::int) delivery;

-- name: redeliver
select "unstuck".redeliver(/*attachment*/'native', $1::text::uuid) as outcome;
