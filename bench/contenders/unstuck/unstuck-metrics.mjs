import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck, metrics',
  settings: 'metrics() for Prometheus, read every second',
  profile: nativeProfile('unstuck'),
  async observe(queue) {
    const metrics = await queue.metrics()
    const timer = setInterval(() => void metrics.text(), 1_000)
    return () => clearInterval(timer)
  },
})
