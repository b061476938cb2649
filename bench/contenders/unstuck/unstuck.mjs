import { nativeProfile } from '../../../dist/index.js'
import { createUnstuck } from './unstuck-application.mjs'

export default createUnstuck({
  name: 'unstuck',
  settings: 'defaults, row kept',
  profile: nativeProfile('unstuck'),
})
