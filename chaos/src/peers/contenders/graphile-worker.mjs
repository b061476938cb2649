import { createGraphile } from './create-graphile.mjs'

export const contender = createGraphile('graphile-worker')
