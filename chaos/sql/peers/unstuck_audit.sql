create function chaos.note_write() returns trigger language plpgsql as $$
begin
  insert into chaos.writes (job, kind, spent)
  values (
    new.payload ->> 'key',
    case new.status
      when 'running' then 'claimed'
      when 'succeeded' then 'finished'
      when 'waiting' then 'returned'
      else 'dead'
    end,
    coalesce(new.failures, 0) + coalesce(new.crashes, 0) + coalesce(new.timeouts, 0)
  );
  return null;
end $$;
create trigger chaos_note_write after update of status on unstuck.jobs
  for each row when (old.status is distinct from new.status) execute function chaos.note_write();
