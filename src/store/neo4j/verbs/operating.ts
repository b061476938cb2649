import { notSupported } from '../../capability.ts'
import type { OperatingStore } from '../../job-store.ts'
import { cancelJobs, discardJobs, markCause, retryJobs, runJobsNow } from '../../memory/operating/manual.ts'
import { policyOf } from '../../memory/state/policy-of.ts'
import type { VerbRunner } from '../state/verb-runner.ts'
import { refuseDeletion, refuseTransaction } from '../unsupported.ts'

export function bindOperatingVerbs({ change }: VerbRunner): OperatingStore {
  return {
    cancelJobs: async (jobIds, options = {}) => {
      refuseTransaction(options)
      return change({ jobIds }, (state) => cancelJobs(state, jobIds, options))
    },
    retryJobs: async (jobIds, options = {}) => {
      refuseTransaction(options)
      return change({ jobIds, withKeyHolders: true }, (state) => retryJobs(state, jobIds, options))
    },
    runJobsNow: (jobIds, options = {}) => change({ jobIds }, (state) => runJobsNow(state, jobIds, options)),
    discardJobs: (jobIds, options = {}) => change({ jobIds }, (state) => discardJobs(state, jobIds, options)),
    markCause: (causeId, mark) =>
      change({ held: [['causes', causeId]] }, (state) => markCause(state, causeId, mark)),
    writePolicy: async (override) => {
      if ((override.dispatch ?? 'off') !== 'off') throw notSupported('Neo4j', 'dispatch')
      return change({ held: [['settings', 'policy']] }, (state) => {
        const policy = policyOf(state.policy, structuredClone(override))
        refuseDeletion(policy)
        state.policy = policy
        return policy
      })
    },
  }
}
