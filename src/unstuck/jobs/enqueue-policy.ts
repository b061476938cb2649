import type { Config } from '../../config/index.ts'
import type { PolicyOverride } from '../../policy/policy.ts'
import type { PolicyOption } from '../../store/job-store.ts'

/** The maximum applies to rows without their own (OPS-8). */
export function enqueuePolicyOf({ enqueueMaxAttempts, policy }: Config): PolicyOption {
  const override: PolicyOverride = {
    ...(enqueueMaxAttempts === null ? {} : { maxAttempts: enqueueMaxAttempts }),
    ...(policy.notify === undefined ? {} : { notify: policy.notify }),
  }
  return Object.keys(override).length === 0 ? {} : { policy: override }
}
