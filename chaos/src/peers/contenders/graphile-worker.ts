import { createGraphile } from './create-graphile.ts'

export const contender = createGraphile('graphile-worker')
