-- Runs every function once, so that a column of the wrong type fails the install instead of production. Functions and
-- table are copies (rehearsal_copy.sql): no row of the team is read, locked or written. The caller rolls back.
do $$
declare
  v_id /*id*/uuid := /*some_id*/'00000000-0000-0000-0000-000000000001';
  v_lease_id uuid;
  v_action text;
  v_operation jsonb;
begin
  perform "unstuck"."set_mode"('reap');
  perform "unstuck"."enqueue_jobs"('[]');
  perform "unstuck"."has_row_constraints"();
  perform "unstuck"."hold_keys"('{}', null, '[{"type": "unstuck-rehearsal", "dedupe_key": "r"}]', array[v_id], null);
  perform "unstuck"."hold_keys_of"(array[v_id], null);
  perform "unstuck"."insert_jobs"('{"type": "unstuck-rehearsal"}', '[]', null, '{}', now(), 1, null);
  perform "unstuck"."enqueue_keyed"('{"type": "unstuck-rehearsal"}', '[]', null, '{}', now(), 1);
  perform "unstuck"."replace_jobs"(
    '{"type": "unstuck-rehearsal", "dedupe_key": "r", "dedupe_replace": true}', '[{}]', null, now(), 1, null);
  begin
    perform "unstuck"."unfinished_job"('unstuck-rehearsal', 'unstuck-rehearsal');
  exception when sqlstate 'UN001' then
    null; -- Expected: the key does not exist.
  end;
  perform "unstuck"."map_dependency"('unstuck-rehearsal', 'unstuck-rehearsal');
  perform "unstuck"."pause_queue"('unstuck-rehearsal-2');
  perform "unstuck".take_probe_slots(/*attachment*/'native', 'unstuck-rehearsal', array[v_id::text]);
  perform "unstuck"."record_calls"('unstuck-rehearsal', '[{"is_failure": true}]');
  perform "unstuck".take_tokens('[{"key": "unstuck-rehearsal", "rate_per_s": 1, "burst": 1}]');
  perform "unstuck"."claim_jobs"('unstuck-rehearsal', array['unstuck-rehearsal', 'unstuck-rehearsal-2'], 1);
  perform "unstuck"."claim_job"(v_id, 'unstuck-rehearsal');
  perform "unstuck"."limit_queue"('unstuck-rehearsal-3', 1);
  perform "unstuck"."claim_jobs"('unstuck-rehearsal', array['unstuck-rehearsal-3'], 1);
  perform "unstuck"."next_groups"('unstuck-rehearsal', 1, word, 1, null, 1, false)
     from (values (null), ('fifo')) known(word);
  perform "unstuck"."lock_grouped"('unstuck-rehearsal', array['r'], 1, 1, 0, '{}', "unstuck".policy_of(
    /*attachment*/'native'), '{}');
  perform "unstuck"."lock_heads"('unstuck-rehearsal', array['r'], 1, '{}', "unstuck".policy_of(
    /*attachment*/'native'), '{}');
  perform "unstuck"."bury_followers"('unstuck-rehearsal-3', array[v_id], "unstuck".policy_of(/*attachment*/'native'));
  perform "unstuck"."claim_turn_of"(v_id, '{}', 1, 'fifo');
  perform "unstuck"."group_running"('unstuck-rehearsal', 'r', 1);
  perform "unstuck"."limit_facts"('unstuck-rehearsal-3', 'r');
  perform "unstuck"."count_trends"();
  perform "unstuck"."has_due_jobs"(array['unstuck-rehearsal', 'unstuck-rehearsal-2']);
  perform "unstuck"."keep_worker"('unstuck-rehearsal', array[v_id], true, true, gen_random_uuid(),
                                  "unstuck".policy_of(/*attachment*/'native'));
  perform "unstuck"."kept_job"('unstuck-rehearsal');
  perform "unstuck"."decide_claim"(
    'unstuck-rehearsal', json_build_array(json_build_object('id', v_id, 'chance', 'spent')), true, true,
    gen_random_uuid(), "unstuck".policy_of(/*attachment*/'native'), 0, '{}', null);
  perform "unstuck"."chance_of"("unstuck".policy_of(/*attachment*/'native'), 1, 0, 1, 0, 1, now());
  perform "unstuck"."record_grants"(now(), 'unstuck-rehearsal', gen_random_uuid(), null, null, '[]');
  perform "unstuck"."heartbeat_jobs"(array[v_id], array[gen_random_uuid()]);
  begin
    perform "unstuck"."enter_stage"(v_id, gen_random_uuid(), 'unstuck-rehearsal');
  exception when sqlstate 'UN006' then
    null; -- Expected of a table without stages.
  end;
  begin
    perform "unstuck"."report_progress"(array[v_id], array[gen_random_uuid()], array[0.5], array['r']);
  exception when sqlstate 'UN006' then
    null; -- Expected of a table without progress.
  end;
  perform "unstuck"."read_progress"(array[v_id]);
  perform "unstuck"."record_late_result"(v_id, gen_random_uuid(), '{}');
  perform "unstuck"."complete_jobs"(array[v_id], array[gen_random_uuid()]);
  perform "unstuck"."fail_jobs"(jsonb_build_array(jsonb_build_object('id', v_id, 'lease_id', gen_random_uuid())));
  perform "unstuck"."release_jobs"(array[v_id], array[gen_random_uuid()]);
  perform "unstuck"."cancel_jobs"(array[v_id]);
  perform "unstuck"."retry_jobs"(array[v_id]);
  perform "unstuck"."reap_jobs"(1);
  perform "unstuck"."bury_jobs"(1);
  perform "unstuck"."sweep_jobs"('{"reaper_id": "unstuck-rehearsal"}', 1);
  perform "unstuck"."preview_sweep"(1);
  perform "unstuck"."prune_jobs"(3650, 1);
  perform "unstuck"."read_health"();
  perform "unstuck"."list_queues"();
  perform "unstuck"."list_workers"();
  perform "unstuck"."read_slo"();
  perform "unstuck"."list_reclaims"();
  perform "unstuck"."list_stale_jobs"();
  perform "unstuck"."list_sweeps"();
  perform "unstuck"."resume_queue"('unstuck-rehearsal-2');
  perform "unstuck"."write_schedule"('unstuck-rehearsal', '0 0 1 1 *', 'UTC', '{"type": "r"}', now() + interval '1 d');
  perform "unstuck"."run_schedule"('unstuck-rehearsal', now(), null);
  perform "unstuck"."list_schedules"();
  perform "unstuck"."delete_schedule"('unstuck-rehearsal');
  perform "unstuck"."job_record"(v_id);
  perform "unstuck"."list_jobs"('{"cause_id": "unstuck-rehearsal", "is_overdue": true}', 1);
  perform "unstuck"."group_dead_jobs"(1);
  perform "unstuck"."find_job_ids"(v_id::text);
  perform "unstuck"."explain_job"(v_id);
  perform "unstuck"."run_jobs_now"(array[v_id]);
  perform "unstuck"."discard_jobs"(array[v_id]);
  perform "unstuck"."begin_operation"('{"action": "run-now", "q": "r", "filter": {"is_overdue": false}}');

  -- A job, for statements that need an existing row. Short values: columns may be narrow.
  insert into "unstuck"."jobs" ("id", "type", "status", "priority", "attempt", "created_at")
  values (v_id, 'r', /*waiting*/'waiting', 0, 0, now());
  begin
    select lease_id into v_lease_id from "unstuck"."claim_jobs"('r', array['r', /*default_type*/'job'], 1);
    if v_lease_id is not null then -- A queue of this name may be paused.
      perform "unstuck"."heartbeat_jobs"(array[v_id], array[v_lease_id]);
      begin
        perform "unstuck"."enter_stage"(v_id, v_lease_id, 'r');
      exception when sqlstate 'UN006' then
        null; -- As above.
      end;
      begin
        perform "unstuck"."report_progress"(array[v_id], array[v_lease_id], array[0.5], array['r']);
      exception when sqlstate 'UN006' then
        null; -- As above.
      end;
      perform "unstuck"."read_progress"(array[v_id]);
      perform "unstuck"."record_late_result"(v_id, v_lease_id, '{}');
      perform "unstuck"."fail_jobs"(jsonb_build_array(jsonb_build_object('id', v_id, 'lease_id', v_lease_id)));
    end if;
  exception when sqlstate 'UN006' then
    null; -- Expected of a table without a time for success.
  end;
  perform "unstuck"."set_mode"('observe');
  perform "unstuck"."sweep_jobs"('{"reaper_id": "unstuck-rehearsal"}', 1);
  perform "unstuck"."read_observations"();
  perform "unstuck"."set_mode"('enforce', 'record');
  begin
    update "unstuck"."jobs" job set "status" = /*running*/'running', "lease_id" = gen_random_uuid()
     where job."id" = v_id;
    update "unstuck"."jobs" job set "status" = /*dead*/'dead' where job."id" = v_id;
    update "unstuck"."jobs" job set "status" = /*running*/'running' where job."id" = v_id;
    update "unstuck"."jobs" job set "status" = /*waiting*/'waiting' where job."id" = v_id;
  exception when sqlstate 'UN006' then
    null; -- As above.
  end;
  perform "unstuck".record_dispatches("unstuck".policy_of(/*attachment*/'native'), array[v_id::text]);
  perform "unstuck"."take_dispatches"(1);
  perform "unstuck"."list_jobs"();
  perform "unstuck"."explain_job"(v_id);
  perform "unstuck"."run_jobs_now"(array[v_id]);
  begin
    perform "unstuck"."cancel_jobs"(array[v_id]);
    update "unstuck"."jobs" job set "status" = /*dead*/'dead', "error_code" = null where job."id" = v_id;
    foreach v_action in array array['redrive', 'run-now', 'cancel', 'discard'] loop
      v_operation := "unstuck"."begin_operation"(
        jsonb_build_object('action', v_action, 'q', 'r', 'filter', '{}'::jsonb, 'lease_ms', 1000));
      perform "unstuck"."count_operation_ends"((v_operation #>> '{operation,id}')::uuid);
      perform "unstuck"."step_operation"(
        (v_operation #>> '{operation,id}')::uuid, (v_operation ->> 'lease_id')::uuid, 1);
    end loop;
  exception when sqlstate 'UN006' then
    null; -- Expected of a table without a time for dead jobs.
  end;
end
$$;
