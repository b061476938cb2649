select to_jsonb(webhook) as record from "unstuck".list_webhooks(/*attachment*/'native') webhook
