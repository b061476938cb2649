select true as is_sent from pg_notify("unstuck".hint_channel(/*attachment*/'native'), $1::text)
