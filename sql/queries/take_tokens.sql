select granted, retry_in_ms::numeric from "unstuck".take_tokens(($1::text)::jsonb, $2::int)
