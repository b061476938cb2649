-- Private: a lease that ended inside an outage of the database, and that nobody could renew since: its worker gets
-- one lease of time to come back before the job counts as abandoned (C9). Without an outage nothing is held.
create or replace function "unstuck".is_held(
  p_outage_from timestamptz, p_outage_to timestamptz, p_ended_at timestamptz, p_heartbeat_at timestamptz,
  p_lease_ms bigint)
returns boolean language sql stable
return coalesce(p_ended_at >= p_outage_from and p_heartbeat_at <= p_outage_to
                  and now() < "unstuck".after_ms(p_outage_to, p_lease_ms), false);
