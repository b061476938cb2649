-- Private: refuses what needs a column that the table does without (docs/adr/0034), and names the command that adds it.
create or replace function "unstuck".refuse_feature(p_attachment text, p_feature text)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using
    errcode = 'UN006',
    message = format('%s is attached without the feature %s', p_attachment, p_feature),
    hint = format('unstuck attach --features %s adds its columns.', p_feature);
end
$$;

-- Private: refuses new jobs with a field for which the table has no column. p_absent: the missing columns, each with
-- its feature. A traceparent is left out silently: clients add it by themselves.
create or replace function "unstuck".require_fields(
  p_attachment text, p_absent jsonb, p_default_type text, p_shared jsonb, p_payloads jsonb, p_jobs jsonb)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".refuse_feature(p_attachment, p_absent ->> field.name)
     from "unstuck".new_jobs(p_shared, p_payloads, p_jobs, now(), null) asked,
          lateral (values ('type', asked.type <> p_default_type),
                          ('queue', asked.queue <> asked.type),
                          ('payload', asked.payload not in ('{}', 'null')),
                          ('priority', asked.priority <> 0),
                          ('owner', asked.owner is not null),
                          ('dedupe_key', asked.dedupe_key is not null),
                          ('stage', asked.stage is not null),
                          ('expected_duration_ms', asked.expected_duration_ms is not null),
                          ('max_attempts', asked.max_attempts is not null),
                          ('backoff_steps_ms', asked.backoff_steps_ms is not null),
                          ('expires_at', asked.expires_at is not null),
                          ('group_key', asked.group_key is not null)) field(name, is_given)
    where field.is_given and p_absent ? field.name;
  return true;
end
$$;

-- Private: refuses a policy with hard deadlines on a table without a column for them: no heartbeat would end at one.
create or replace function "unstuck".refuse_deadlines(p_attachment text, p_policy "unstuck".policies)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform "unstuck".refuse_feature(p_attachment, 'deadlines')
    where p_policy.default_deadline_ms > 0 or p_policy.max_runtime_ms > 0
       or p_policy.stage_deadlines_ms <> '{}' or p_policy.type_runtimes_ms <> '{}';
  return true;
end
$$;
