import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck, all events',
  settings: 'policy events: all',
  profile: nativeProfile('unstuck'),
  policy: { events: 'all' },
})
