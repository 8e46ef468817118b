import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import { newestFirst } from '../../graph/lists/paging.ts'
import { createNode } from '../../graph/nodes.ts'
import type { NewOperation } from '../../graph/operation.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { solutionAnswered } from './errors.ts'
import { onboardingOperations } from './onboarding-operations.ts'
import { answers, checkInvited, checkMessagingHolder, checkOwnApplication, checkPartner, toSolution } from './rules.ts'
import {
  answeredSchema,
  createdSolutionSchema,
  newSolutionSchema,
  solutionListSchema,
  solutionRoles,
  solutionSchema,
} from './schemas.ts'
import {
  answerSolution,
  findPartnerApp,
  findSolution,
  insertSolution,
  listSolutions,
  listSolutionsOfAccount,
} from './store.ts'

const solutionFields = Object.keys(solutionSchema.properties)

const solutionList = newestFirst(100)

const exampleSolution = {
  id: '9000000000000001',
  name: 'Garden Messaging',
  status: 'INITIATED',
  status_for_pending_request: 'PENDING_ACTIVATION',
  owner_app: { id: '3000000000000001', name: 'Shrub CRM' },
  owner_permissions: ['MANAGE', 'DEVELOP', 'MANAGE_TEMPLATES', 'VIEW_INSIGHTS'],
}

const examplePaging = { cursors: { before: 'MTIzNDU2Nzg5MDEy', after: 'MTIzNDU2Nzg5MDEy' } }

const createFirst = { send: 'solutions.create', take: { pointer: '/solution_id', as: 'Solution-ID' } }

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    solution: true
    onboarding_request: true
  }
}

export const solutionsChapter: Chapter = {
  name: 'solutions',
  title: 'Multi-partner solutions and onboarding',
  nodes: {
    solution: {
      placeholder: 'Solution-ID',
      called: 'a solution',
      example: '9000000000000000',
      named: { table: 'solutions', columns: ['name'] },
    },
    onboarding_request: { called: 'an onboarding request' },
  },
  rows: (vocabulary) => [...solutionOperations(vocabulary), ...onboardingOperations()],
  leftOutOfWorld: { solutions: 'solutions', 'onboarding requests': 'agreement_requests' },
}

function solutionOperations(vocabulary: Vocabulary): NewOperation[] {
  return [
    defineWrite({
      name: 'solutions.create',
      method: 'POST',
      path: `/{Version}/{Application-ID}/${vocabulary.product}_business_solution`,
      sentence: "Creates a solution of the token's own app and invites a partner app into it.",
      permission: 'management',
      permit: ({ caller, node }) => checkOwnApplication(caller, node),
      rateClass: 'solution_creation',
      input: newSolutionSchema,
      output: createdSolutionSchema,
      examples: {
        input: {
          solution_name: 'Garden Messaging',
          partner_app_id: '3000000000000002',
          owner_permissions: [],
          partner_permissions: ['MESSAGING'],
        },
        output: { solution_id: '9000000000000001' },
      },
      async run({ db, caller, clock, random }, input) {
        checkMessagingHolder(input)
        const partner = checkPartner(caller, input.partner_app_id, await findPartnerApp(db, input.partner_app_id))
        const owner = { app_id: caller.app_id, business_id: caller.business_id }
        const id = await createNode(db, random, 'solution', { business_id: owner.business_id, account_id: null })
        const parties = { owner, partner: { app_id: partner.id, business_id: partner.business_id } }
        await insertSolution(db, { id, created_time: clock.now(), ...parties }, input)
        return { solution_id: id }
      },
    }),
    defineRead({
      name: 'solutions.list',
      method: 'GET',
      path: `/{Version}/{Application-ID}/${vocabulary.product}_business_solutions`,
      sentence: 'Lists the solutions that an app is in, newest first.',
      permission: 'management',
      fields: { available: solutionFields, defaults: solutionFields, mode: 'replace' },
      list: solutionList,
      input: Type.Object({
        role: Type.Optional(
          Type.Enum(solutionRoles, { description: 'What the app is in them; both roles when left out.' }),
        ),
      }),
      output: solutionListSchema,
      examples: {
        input: { role: 'OWNER', limit: 1 },
        output: { data: [exampleSolution], paging: examplePaging },
      },
      async run({ db, node, page, project }, { role }) {
        return page.fetch(
          (range) => listSolutions(db, node, role, range),
          (row) => project(toSolution(row)),
        )
      },
    }),
    defineRead({
      name: 'solutions.list_of_account',
      method: 'GET',
      path: '/{Version}/{Account-ID}/solutions',
      sentence:
        "Lists the solutions that the onboarding of an account named, newest first: all of them to the account's owner, to others those that their business is in.",
      permission: 'management',
      fields: { available: solutionFields, defaults: solutionFields, mode: 'replace' },
      list: solutionList,
      input: Type.Object({}),
      output: solutionListSchema,
      examples: { input: { limit: 1 }, output: { data: [exampleSolution], paging: examplePaging } },
      async run({ db, node, caller, page, project }) {
        return page.fetch(
          (range) => listSolutionsOfAccount(db, node, caller, range),
          (row) => project(toSolution(row)),
        )
      },
    }),
    defineRead({
      name: 'solutions.read',
      method: 'GET',
      path: '/{Version}/{Solution-ID}',
      sentence: 'Reads a solution, for the business of either of its apps.',
      permission: 'management',
      fields: { available: solutionFields, defaults: solutionFields, mode: 'replace' },
      input: Type.Object({}),
      output: solutionSchema,
      examples: { output: exampleSolution, first: [createFirst] },
      async run({ db, node, project }) {
        return project(toSolution(await findSolution(db, node)))
      },
    }),
    answerRow(
      vocabulary,
      'accept',
      'Accepts the invitation into a solution, which becomes ACTIVE, as its partner app.',
    ),
    answerRow(
      vocabulary,
      'reject',
      'Rejects the invitation into a solution, which becomes REJECTED, as its partner app.',
    ),
  ]
}

/** What the public document shows besides. */
const shownAnswers = {
  accept: { partner_status: 'ACCEPTED' },
  reject: { rejected_request_type: 'PARTNERSHIP_REQUEST' },
} as const

function answerRow(vocabulary: Vocabulary, answer: keyof typeof answers, sentence: string): NewOperation {
  const shown = shownAnswers[answer]
  const show = (solution_id: string) => ({
    success: true,
    ...(vocabulary.habits.library_fields && { solution_id, ...shown }),
  })
  return defineWrite({
    name: `solutions.${answer}`,
    method: 'POST',
    path: `/{Version}/{Solution-ID}/${answer}`,
    sentence,
    permission: 'management',
    permit: async ({ db, caller, node }) => checkInvited(caller, await findSolution(db, node)),
    input: Type.Object({}),
    output: answeredSchema(vocabulary, shown),
    examples: { output: show('9000000000000001'), by: 'partner', first: [createFirst] },
    async run({ db, node }) {
      if (!(await answerSolution(db, node, answers[answer]))) throw solutionAnswered()
      return show(node.id)
    },
  })
}
