import type { Measure } from '../measure.ts'
import { attached } from './attached.ts'
import { claimers } from './claimers.ts'
import { claims } from './claims.ts'
import { enqueueMeasures } from './enqueue.ts'
import { fleet } from './fleet.ts'
import { groups } from './groups.ts'
import { growthMeasures } from './growth.ts'
import { handlerMeasures } from './handlers.ts'
import { heartbeats } from './heartbeats.ts'
import { heldXmin } from './held-xmin.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { observability } from './observability.ts'
import { presence } from './presence.ts'
import { priceMeasures } from './price.ts'
import { processMeasures } from './process.ts'
import { reaping } from './reaping.ts'
import { rescue } from './rescue/rescue.ts'
import { waysOfDeath } from './rescue/ways-of-death.ts'
import { shards } from './shards.ts'

export const measures: Measure[] = [
  ...processMeasures,
  ...handlerMeasures,
  claimers,
  ...priceMeasures,
  ...enqueueMeasures,
  latency,
  claims,
  heartbeats,
  reaping,
  rescue,
  waysOfDeath,
  presence,
  ...growthMeasures,
  fleet,
  groups,
  shards,
  heldXmin,
  attached,
  idle,
  observability,
]
