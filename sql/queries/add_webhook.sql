select to_jsonb(webhook) as record
  from "unstuck".add_webhook(/*attachment*/'native', $1::text, $2::text, $3::text[], $4::text, $5::text) webhook
