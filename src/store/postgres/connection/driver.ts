// biome-ignore-all assist/source/organizeImports: their order is what this module is for
// pg, loaded without Node's fetch.
import { removeNavigator } from './navigator-for-pg.ts'

import pg from 'pg'

removeNavigator()

export { pg }
