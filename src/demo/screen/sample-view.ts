// A moment of the demo, for the picture in the documentation and for tests of the screen.
import { demoSettings } from '../demo-settings.ts'
import type { ScreenView } from './screen.ts'

const ready = { state: 'ready', stateMs: 0 } as const

export const sampleView: ScreenView = {
  database: 'embedded PostgreSQL 18.4',
  url: 'http://127.0.0.1:4141',
  inForce: demoSettings.inForce,
  settings: demoSettings.besides.slice(0, 1),
  handRolled: {
    workers: [
      { name: 'w1', pid: 4711, ...ready, job: { n: 14, ageMs: 900 } },
      { name: 'w2', pid: 4712, state: 'killed', stateMs: 1_200, job: null },
      { name: 'w3', pid: 4713, ...ready, job: { n: 15, ageMs: 300 } },
    ],
    orphans: [
      { n: 5, ageMs: 41_000 },
      { n: 9, ageMs: 23_000 },
      { n: 13, ageMs: 2_300 },
    ],
    totals: 'done 9  stuck 3',
  },
  unstuck: {
    workers: [
      { name: 'w1', pid: 4721, ...ready, job: { n: 12, leaseLeftMs: 2_400, leaseShare: 0.8, beats: 3 } },
      { name: 'w2', pid: 4722, state: 'killed', stateMs: 1_200, job: null },
      { name: 'w3', pid: 4723, ...ready, job: { n: 14, leaseLeftMs: 2_900, leaseShare: 0.97, beats: 1 } },
    ],
    // Killed with the default lease: nearly all of it is left, and presence notices all the same.
    orphans: [{ n: 13, leaseLeftMs: 57_600, leaseShare: 0.96, beats: 2 }],
    totals: 'done 11  stuck 0  rescued 2 ≤ 3.5 s',
  },
  banner: null,
  playing: 'kill -9 a worker',
  log: [
    '  7.1 s  kill -9 4720 (w1, running job 5, lease 60 s)',
    '  9.5 s  job 5 rescued 2.4 s after its last heartbeat: its process had ended',
    ' 14.3 s  freeze 4718 (w3, SIGSTOP, running job 9)',
    ' 17.8 s  job 9 rescued 3.5 s after its last heartbeat: its lease had expired',
    ' 18.2 s  late write of job 9 refused: lease-lost, fence 1 < 2',
    ' 19.0 s  kill -9 4722 (w2, running job 13, lease 60 s)',
  ],
  keys: ['kill -9', 'freeze', 'block loop', 'gateway', 'poison', 'all down', 'quit'],
}
