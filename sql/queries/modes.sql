-- The mode of a table.

-- name: read_mode
select mode, on_foreign_settle, "unstuck".iso_utc(mode_since) as since
  from "unstuck".attachments where name = /*attachment*/'native';

-- name: read_attachment
select profile, table_schema, table_name, "unstuck".iso_utc(attached_at) as attached_at, mode, on_foreign_settle,
       "unstuck".iso_utc(mode_since) as since
  from "unstuck".attachments where name = /*attachment*/'native';

-- name: set_mode
-- With the audit entry of a person's change, in its transaction.
select to_jsonb(status) as record,
       "unstuck".record_audit_entry(
         /*attachment*/'native', 'mode-changed', status.mode, $3::text, $4::text,
         jsonb_build_object('on_foreign_settle', status.on_foreign_settle)) as is_audited
  from "unstuck"."set_mode"($1::text, $2::text) status;

-- name: refresh_mode
-- Recreates the trigger of mode enforce after an install.
select "unstuck"."set_mode"(mode) from "unstuck".attachments where name = /*attachment*/'native' and mode = 'enforce';

-- name: read_observations
select to_jsonb(seen) as record from "unstuck"."read_observations"() seen;
