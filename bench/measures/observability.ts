import type { ContenderId } from '../contenders/contender.ts'
import { contenderVariants, type Measure } from '../measure.ts'
import { measureProcess } from './process.ts'

const observed: ContenderId[] = ['unstuck', 'unstuck-events', 'unstuck-metrics', 'unstuck-tracing']

export const observability: Measure = {
  id: 'observability',
  title: 'The cost of seeing',
  method: 'Process with one worker process, with one thing more switched on in each row.',
  columns: () => [
    { key: 'jobsPerS', title: 'jobs/s' },
    { key: 'cpuUsPerJob', title: 'worker CPU µs/job', digits: 1 },
    { key: 'rssMb', title: 'worker RSS MB' },
  ],
  variants: (bench) =>
    contenderVariants(bench, observed, (id, contender) =>
      measureProcess(bench, id, contender, { workers: 1 }),
    ),
}
