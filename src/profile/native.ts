import { nativePolicy } from '../policy/policy.ts'
import type { Profile } from './profile.ts'

/** unstuck's own table, in the engine's schema. */
export function nativeProfile(schema: string): Profile {
  return {
    name: 'native',
    tables: [
      {
        attachment: 'native',
        schema,
        table: 'jobs',
        idType: 'uuid',
        columns: {},
        statuses: {
          waiting: 'waiting',
          running: ['running'],
          succeeded: 'succeeded',
          dead: 'dead',
          cancelled: 'cancelled',
        },
        defaultType: null,
        ageColumns: ['heartbeat_at', 'started_at', 'updated_at'],
        teamEvents: null,
        judgesWaiting: true,
        hasUniqueDedupeKey: true,
        policy: nativePolicy,
      },
    ],
    isPruned: true,
  }
}
