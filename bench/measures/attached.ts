import type { ContenderId } from '../contenders/contender.ts'
import { contenderVariants, type Measure } from '../measure.ts'
import { measureProcess } from './process.ts'

const tables: ContenderId[] = ['unstuck', 'unstuck-clip', 'unstuck-executor']

export const attached: Measure = {
  id: 'attached',
  title: 'Attached tables',
  method: 'Process with one worker process, on tables that an application had before.',
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'cpuUsPerJob', title: 'worker CPU µs/job', digits: 1 },
  ],
  variants: (bench) =>
    contenderVariants(bench, tables, (id, contender) => measureProcess(bench, id, contender, { workers: 1 })),
  chart: { kind: 'bars', column: 'jobsPerS' },
}
