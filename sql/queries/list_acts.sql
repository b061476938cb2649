select to_jsonb(act) as record from "unstuck".list_audit_entries($1::text, $2::text, $3::text, $4::int) act
