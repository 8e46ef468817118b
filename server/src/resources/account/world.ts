import { type Static, Type } from 'typebox'
import type { AccountAccess, AccountsTable } from '../../db/tables.ts'
import { inBatches } from '../../world-part/batches.ts'
import { pickGiven, toEntry } from '../../world-part/entries.ts'
import { defineWorldPart, type Entry, exportRows, listReferences, type WriteContext } from '../../world-part/part.ts'
import { readByIds, readRows, upsertChanged, upsertNodes } from '../../world-part/rows.ts'
import { countrySchema, idExpectation, idListSchema, idSchema, textSchema } from '../../world-part/schemas.ts'
import { accountDefaults, findNameProblems, makeTemplateNamespace } from './rules.ts'
import { accountReviewStatuses, businessVerificationStatuses, ownershipTypes } from './schemas.ts'
import { withdrawAccess } from './withdraw.ts'

const schema = Type.Object({
  id: idSchema,
  business_id: idSchema,
  name: Type.String(),
  timezone_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  message_template_namespace: Type.Optional(textSchema),
  account_review_status: Type.Optional(Type.Enum(accountReviewStatuses)),
  business_verification_status: Type.Optional(Type.Enum(businessVerificationStatuses)),
  country: Type.Optional(countrySchema),
  ownership_type: Type.Optional(Type.Enum(ownershipTypes)),
  primary_business_location: Type.Optional(textSchema),
  shared_with: Type.Optional(idListSchema),
  on_behalf_of: Type.Optional(
    Type.Union([idSchema, Type.Null()], { 'x-expects': `${idExpectation}; or null for nobody` }),
  ),
  small_business: Type.Optional(Type.Boolean()),
})
type Account = Static<typeof schema>

/** Accounts, and who has access to them. */
export const accountEntries = defineWorldPart({
  key: 'accounts',
  form: 'list',
  schema,
  nodes: [{ kind: 'account', key: 'id' }],
  ownerOf: ({ id, business_id }) => ({ business_id, account_id: id }),
  *references({ given, place }) {
    yield { place: `${place}.business_id`, id: given.business_id, kind: 'business' }
    yield* listReferences(given.shared_with, `${place}.shared_with`, 'business')
    if (typeof given.on_behalf_of === 'string') {
      yield { place: `${place}.on_behalf_of`, id: given.on_behalf_of, kind: 'business' }
    }
  },
  checkFile: (problems) => {
    return ({ given, place }) => problems.addAll(place, findNameProblems(given.name))
  },
  async write(accounts, context) {
    const { now, random } = context
    await upsertNodes(context, 'accounts', accounts, {
      create: ({ given }) => ({
        id: given.id,
        business_id: given.business_id,
        message_template_namespace: makeTemplateNamespace(random),
        created_time: now,
        ...accountDefaults,
        ...givenColumns(given),
        name: given.name.trim(),
      }),
      change: ({ given }) => givenColumns(given),
    })
    // Access is granted before any is withdrawn: a business that keeps its access for another reason keeps what depends on it.
    await upsertChanged(
      context,
      {
        table: 'account_access',
        key: ['account_id', 'business_id', 'relation'],
        keyOf: ({ account_id, business_id, relation }) => [account_id, business_id, relation],
        nodeOf: ({ account_id }) => account_id,
        create: (access) => ({ ...access, created_time: now }),
        change: () => ({}),
      },
      accounts.flatMap(({ given }) => listAccess(given)),
    )
    await withdrawFormerAccess(accounts, context)
  },
  export: exportRows({
    table: 'accounts',
    async toEntries(accounts, db) {
      const ids = accounts.map(({ id }) => id)
      const access = await readByIds(db, 'account_access', 'account_id', ids, ['business_id'])
      const byAccount = Map.groupBy(access, ({ account_id }) => account_id)
      return accounts.map((account) => toAccountEntry(account, byAccount.get(account.id) ?? []))
    },
  }),
})

function givenColumns(given: Account) {
  return pickGiven({
    name: given.name.trim(),
    timezone_id: given.timezone_id,
    message_template_namespace: given.message_template_namespace,
    account_review_status: given.account_review_status,
    business_verification_status: given.business_verification_status,
    country: given.country,
    ownership_type: given.ownership_type,
    primary_business_location: given.primary_business_location,
    small_business: given.small_business,
  })
}

function listAccess({ id, business_id, shared_with, on_behalf_of }: Account): AccountAccess[] {
  return [
    { account_id: id, business_id, relation: 'owner' },
    ...[...new Set(shared_with)].map((shared) => ({
      account_id: id,
      business_id: shared,
      relation: 'shared' as const,
    })),
    ...(typeof on_behalf_of === 'string'
      ? [{ account_id: id, business_id: on_behalf_of, relation: 'on_behalf_of' as const }]
      : []),
  ]
}

/** Withdraws access from businesses that a list of the file no longer names; a missing key changes nothing. */
async function withdrawFormerAccess(
  accounts: readonly Entry<Account>[],
  { tx, tally, knownNodes, tools }: WriteContext,
): Promise<void> {
  const speaking = accounts.filter(({ given }) => given.shared_with !== undefined || given.on_behalf_of !== undefined)
  const byId = new Map(speaking.map(({ given }) => [given.id, given]))
  const former: AccountAccess[] = []
  const known = [...byId.keys()].filter((id) => knownNodes.has(id))
  const columns = ['account_id', 'business_id', 'relation'] as const
  for await (const access of readRows(tx, 'account_access', 'account_id', columns, known)) {
    const given = byId.get(access.account_id)
    if (given && isFormer(access, given)) former.push(access)
  }
  for await (const batch of inBatches(former)) {
    for (const access of batch) await withdrawAccess(tx, tools, access)
  }
  tally.updated += former.length
}

function isFormer({ business_id, relation }: AccountAccess, { shared_with, on_behalf_of }: Account): boolean {
  switch (relation) {
    case 'shared':
      return shared_with !== undefined && !shared_with?.includes(business_id)
    case 'on_behalf_of':
      return on_behalf_of !== undefined && on_behalf_of !== business_id
    case 'owner':
    case 'connected':
      return false
  }
}

function toAccountEntry(account: AccountsTable, access: readonly AccountAccess[]): object {
  const having = (relation: AccountAccess['relation']) =>
    access.filter((one) => one.relation === relation).map(({ business_id }) => business_id)
  const others = { shared_with: having('shared'), on_behalf_of: having('on_behalf_of')[0] ?? null }
  // Written even when nobody else has access: left out, the key would change nothing.
  return toEntry(schema, account, others, ['on_behalf_of'])
}
