// As graphile-worker does it. Left out by the policy itself where it does not know the setting.
import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck, finished rows deleted',
  settings: 'policy keepCompleted: false',
  profile: nativeProfile('unstuck'),
  policy: { keepCompleted: false },
})
