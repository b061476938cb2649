create function chaos.note_write() returns trigger language plpgsql as $$
begin
  insert into chaos.writes (job, kind, spent)
  values (
    new.data ->> 'key',
    case new.state::text
      when 'active' then 'claimed'
      when 'completed' then 'finished'
      when 'failed' then 'dead'
      else 'returned'
    end,
    new.attempts_made + new.stalled_count
  );
  return null;
end $$;
create trigger chaos_note_write after update of state on bullmq.job
  for each row when (old.state is distinct from new.state) execute function chaos.note_write();
