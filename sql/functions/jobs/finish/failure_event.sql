-- Private: the event type under which a failure is recorded.
create or replace function "unstuck".failure_event(p_outcome text, p_code text)
returns text language sql immutable
return case p_outcome when 'retried' then 'retry' when 'dead' then case when p_code = 'EXPIRED' then 'expired'
                                                                          else 'failed' end
                        else p_outcome end;
