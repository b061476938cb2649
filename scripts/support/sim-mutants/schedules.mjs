// @ts-check
// Mutants of schedules.

/** @import { Mutant } from '../../bundle/bundle-simulator.mjs' */

/** @type {Mutant[]} */
export const schedules = [
  {
    name: 'schedules: an occurrence runs twice',
    file: 'memory/schedules.ts',
    from: "if (schedule.nextRunAt?.getTime() !== dueAt.getTime()) return { outcome: 'taken' }",
    to: '',
  },
  {
    name: 'schedules: every occurrence that was missed is made up for',
    file: 'services/scheduler.ts',
    from: 'now > dueAt ? now : dueAt',
    to: 'dueAt',
  },
  {
    name: 'schedules: one that is written again begins anew',
    file: 'memory/schedules.ts',
    from: 'nextRunAt: isSame ? known.nextRunAt : new Date(nextRunAt)',
    to: 'nextRunAt: new Date(nextRunAt)',
  },
  {
    name: 'schedules: a look that failed is repeated with the next poll',
    file: 'services/scheduler.ts',
    from: 'if (failures.size === 0) return dueInMs\n',
    to: 'if (failures.size < 1_000) return dueInMs\n',
  },
]
