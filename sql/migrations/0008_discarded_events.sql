-- The one event that is left of a discarded job has no job to be deleted with: retention finds it by its time.
create index if not exists events_discarded on "unstuck".events (attachment, at) where type = 'discarded';
