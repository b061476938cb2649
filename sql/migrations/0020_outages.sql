-- The outages that may still be waited out (C9). outage_from and outage_to are where the first of them began and the
-- last one ended; a hold outlives the upgrade.
alter table "unstuck".sweeps add column outages tstzmultirange not null default '{}';
update "unstuck".sweeps set outages = tstzmultirange(tstzrange(outage_from, outage_to)) where outage_from < outage_to;
