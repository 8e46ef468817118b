import { defineWrite } from '../../graph/define.ts'
import { createNode } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import { noEligibleAccount } from './onboarding-errors.ts'
import { checkLinkedSolution, checkOtherBusiness, checkPartnerApp } from './onboarding-rules.ts'
import {
  findPendingRequest,
  hasEligibleAccount,
  insertRequest,
  lockEndBusiness,
  setMobilityIntents,
} from './onboarding-store.ts'
import { newOnboardingSchema, onboardingSchema } from './schemas.ts'
import { findPartnerApp, findSolutionOfApp } from './store.ts'

export function onboardingOperations(): NewOperation[] {
  return [
    defineWrite({
      name: 'onboarding.request',
      method: 'POST',
      path: '/{Version}/{Business-ID}/onboard_partners_to_mm_lite',
      sentence:
        'Requests, as a partner, to onboard an end business; while a request is pending, the response names that request.',
      permission: 'management',
      permit: async ({ db, caller }) => {
        checkPartnerApp(await findPartnerApp(db, caller.app_id))
      },
      rateClass: 'onboarding',
      input: newOnboardingSchema,
      output: onboardingSchema,
      examples: { output: { request_id: '9000000000000002' }, by: 'partner' },
      async run({ db, node, caller, clock, random }, { solution_id }) {
        const partner = checkPartnerApp(await findPartnerApp(db, caller.app_id))
        checkOtherBusiness(caller, node)
        if (solution_id !== undefined) checkLinkedSolution(await findSolutionOfApp(db, solution_id, caller.app_id))

        const parties = {
          partner_business_id: caller.business_id,
          end_business_id: node.id,
          accounts: caller.accounts,
        }
        lockEndBusiness(db, parties)
        const pending = await findPendingRequest(db, parties)
        if (pending) return { request_id: pending.id }

        if (!(await hasEligibleAccount(db, parties))) throw noEligibleAccount()
        const request = {
          id: await createNode(db, random, 'onboarding_request', { business_id: caller.business_id, account_id: null }),
          partner_app_id: caller.app_id,
          solution_id: solution_id ?? null,
          created_time: clock.now(),
        }
        await insertRequest(db, parties, request)
        if (partner.partner_kind === 'SOLUTION_PROVIDER') await setMobilityIntents(db, parties, request)
        return { request_id: request.id }
      },
    }),
  ]
}
