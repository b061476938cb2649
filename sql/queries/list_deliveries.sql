select to_jsonb(delivery) as record
  from "unstuck".list_deliveries(/*attachment*/'native', $1::text::uuid, $2::text, $3::int) delivery
