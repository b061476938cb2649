select * from "unstuck".list_webhooks(/*attachment*/'native')
