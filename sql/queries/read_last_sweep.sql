select reaper_id, swept_at, duration_ms, found, requeued, dead, cancelled, skipped, held from "unstuck".sweeps
 where attachment = /*attachment*/'native' and swept_at is not null
