import { defineConfig } from 'vitest/config'
import whole from '../../../vitest.config.ts'
import { leftToAll, smokeOfAll } from './suites.ts'

const isSmoke = process.env['UNSTUCK_TEST_SMOKE'] === '1'

export default defineConfig({ test: { ...whole.test, include: isSmoke ? smokeOfAll : leftToAll } })
