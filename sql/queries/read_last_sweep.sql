select reaper_id, "unstuck".iso_utc(swept_at) as swept_at, duration_ms::numeric, found, requeued, dead, cancelled,
       skipped, held
  from "unstuck".sweeps where attachment = /*attachment*/'native' and sweeps.swept_at is not null
