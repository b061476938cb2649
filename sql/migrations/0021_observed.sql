-- A copy of the mode, written by set_mode, for the verbs that change jobs: they read their policy anyway. A look at
-- attachments would cost each of them 17 µs, a fifth of an empty claim.
alter table "unstuck".policies add column is_observed boolean not null default false;
comment on column "unstuck".policies.is_observed is 'true or false';
update "unstuck".policies policy set is_observed = true
  from "unstuck".attachments attached
 where attached.name = policy.attachment and attached.mode = 'observe';
