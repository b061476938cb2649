-- Replaced by claim_types (docs/adr/0058).
drop function if exists "unstuck".require_claims(text, text[], int, text[], bigint);
drop function if exists "unstuck".require_claim(text, bigint);
