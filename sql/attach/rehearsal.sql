-- Runs every function once against ids that nobody has, so that a column of the wrong type or a missing right shows at
-- install and not in production. The caller rolls it back.
do $$
declare
  v_id /*id*/uuid := /*lowest_id*/'00000000-0000-0000-0000-000000000000';
begin
  perform "unstuck"."enqueue_jobs"('[]');
  begin
    perform "unstuck"."unfinished_job"('unstuck-rehearsal', 'unstuck-rehearsal');
  exception when sqlstate 'UN001' then
    null; -- As it should be: nobody has this key.
  end;
  perform "unstuck"."map_dependency"('unstuck-rehearsal', 'unstuck-rehearsal');
  perform "unstuck"."pause_queue"('unstuck-rehearsal-2');
  perform "unstuck".take_probe_slots(/*attachment*/'native', 'unstuck-rehearsal', array[v_id::text]);
  perform "unstuck"."record_calls"('unstuck-rehearsal', '[{"is_failure": true}]');
  perform "unstuck".take_tokens('[{"key": "unstuck-rehearsal", "rate_per_s": 1, "burst": 1}]');
  perform "unstuck"."claim_jobs"('unstuck-rehearsal', array['unstuck-rehearsal', 'unstuck-rehearsal-2'], 1);
  perform "unstuck"."claim_job"(v_id, 'unstuck-rehearsal');
  perform "unstuck"."grant_leases"('{}', 'unstuck-rehearsal', gen_random_uuid(),
                                   "unstuck".policy_of(/*attachment*/'native'));
  perform "unstuck"."heartbeat_jobs"(array[v_id], array[gen_random_uuid()]);
  perform "unstuck"."enter_stage"(v_id, gen_random_uuid(), 'unstuck-rehearsal');
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
  perform "unstuck"."resume_queue"('unstuck-rehearsal-2');
  perform "unstuck"."job_record"(v_id);
end
$$;
