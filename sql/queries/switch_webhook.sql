select to_jsonb(webhook) as record
  from "unstuck".switch_webhook(/*attachment*/'native', $1::text::uuid, $2::boolean, $3::text, $4::text) webhook
