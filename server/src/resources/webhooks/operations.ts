import { Type } from 'typebox'
import type { Chapter } from '../../chapter.ts'
import { endWaiting } from '../../delivery/history/end-waiting.ts'
import { defineRead, defineWrite } from '../../graph/define.ts'
import type { NewOperation, NewRow } from '../../graph/operation.ts'
import { successSchema } from '../../graph/schemas.ts'
import type { Vocabulary } from '../../graph/vocabulary.ts'
import { inboundAdmission } from './inbound/admission.ts'
import { receiverOperations } from './inbound/receiver-operations.ts'
import { checkMayUnlink, checkOwnSubscriptions, readFieldNames, readOverride } from './rules.ts'
import {
  endedSubscriptionSchema,
  linkListSchema,
  makeEndedLinkSchema,
  newLinkSchema,
  newSubscriptionSchema,
  subscriptionListSchema,
} from './schemas.ts'
import {
  countOverridesForOperators,
  findSubscription,
  keepSubscribedFields,
  linkApp,
  listLinkedApps,
  lockSubscribedFields,
  putSubscription,
  unlinkApp,
} from './store.ts'
import { webhookWorld } from './world.ts'

const success = { success: true }
const subscriptionsPath = '/{Version}/{Application-ID}/subscriptions'
const linksPath = '/{Version}/{Account-ID}/subscribed_apps'

declare module '../../graph/nodes.ts' {
  interface NodeKinds {
    application: true
  }
}

export const webhooksChapter: Chapter = {
  name: 'webhooks',
  title: 'Webhooks',
  nodes: {
    application: {
      placeholder: 'Application-ID',
      called: 'an app',
      example: '3000000000000001',
      named: { table: 'apps', columns: ['name'] },
    },
  },
  rows: webhookOperations,
  world: webhookWorld,
  leftOutOfWorld: { "apps' own callbacks of an account": countOverridesForOperators },
  inbound: inboundAdmission,
}

function webhookOperations(vocabulary: Vocabulary): NewRow[] {
  return [...subscriptionOperations(vocabulary), ...linkOperations(vocabulary), ...receiverOperations(vocabulary)]
}

/** An app's subscription: which fields, and where. */
function subscriptionOperations(vocabulary: Vocabulary): NewOperation[] {
  const { account_object: object } = vocabulary
  return [
    defineWrite({
      name: 'webhooks.subscribe',
      method: 'POST',
      path: subscriptionsPath,
      sentence:
        "Subscribes the token's own app to fields at a callback, verified by a handshake, and replaces any subscription that it has.",
      permission: 'management',
      permit: ({ caller, node }) => checkOwnSubscriptions(caller, node),
      input: newSubscriptionSchema(vocabulary),
      output: successSchema,
      examples: {
        input: {
          object,
          callback_url: 'http://127.0.0.1:9000/hook',
          verify_token: 'shrub-verify-token',
          fields: ['messages', 'calls'],
        },
        output: success,
        needs: 'Something has to answer at the callback.',
      },
      async prepare({ ports }, { callback_url, verify_token, fields }) {
        const names = readFieldNames(fields)
        await ports.verifyCallback(callback_url, verify_token)
        return names
      },
      async run({ db, node, clock }, { callback_url, verify_token }, fields) {
        await putSubscription(db, { app_id: node.id, callback_url, verify_token, fields, created_time: clock.now() })
        return success
      },
    }),
    defineRead({
      name: 'webhooks.list_subscriptions',
      method: 'GET',
      path: subscriptionsPath,
      sentence: "Lists what the token's own app is subscribed to, and where.",
      permission: 'management',
      permit: ({ caller, node }) => checkOwnSubscriptions(caller, node),
      input: Type.Object({}),
      output: subscriptionListSchema(vocabulary),
      examples: {
        output: {
          data: [{ object, callback_url: 'http://127.0.0.1:9000/hook', fields: ['messages', 'calls'], active: true }],
        },
      },
      async run({ db, node }) {
        const subscription = await findSubscription(db, node.id)
        if (!subscription) return { data: [] }
        const { callback_url, fields } = subscription
        return { data: [{ object, callback_url, fields, active: true }] }
      },
    }),
    defineWrite({
      name: 'webhooks.unsubscribe',
      method: 'DELETE',
      path: subscriptionsPath,
      sentence: "Ends the subscription of the token's own app, or takes the given fields out of it.",
      permission: 'management',
      permit: ({ caller, node }) => checkOwnSubscriptions(caller, node),
      input: endedSubscriptionSchema(vocabulary),
      output: successSchema,
      examples: { input: { object, fields: ['calls'] }, output: success },
      async run({ db, node }, { fields }) {
        const ended = fields === undefined ? undefined : readFieldNames(fields)
        const subscribed = await lockSubscribedFields(db, node.id)
        const kept = ended && subscribed ? subscribed.filter((field) => !ended.includes(field)) : []
        if (subscribed) await keepSubscribedFields(db, node.id, kept)
        return success
      },
    }),
  ]
}

/** The apps linked to an account. */
function linkOperations(vocabulary: Vocabulary): NewOperation[] {
  const { library_fields } = vocabulary.habits
  return [
    defineWrite({
      name: 'webhooks.link_app',
      method: 'POST',
      path: linksPath,
      sentence:
        "Links the token's app to an account, so that it receives its events: at the override, verified by a handshake, or without one at its own callback.",
      permission: 'management',
      input: newLinkSchema,
      output: successSchema,
      examples: { input: {}, output: success },
      async prepare({ ports }, input) {
        const override = readOverride(input)
        if (override) await ports.verifyCallback(override.url, override.verify_token, 'override_callback_uri')
        return override
      },
      async run({ db, node, caller, clock }, _input, override) {
        await linkApp(db, {
          account_id: node.id,
          app_id: caller.app_id,
          override_callback_uri: override?.url ?? null,
          verify_token: override?.verify_token ?? null,
          created_time: clock.now(),
        })
        return success
      },
    }),
    defineRead({
      name: 'webhooks.list_linked_apps',
      method: 'GET',
      path: linksPath,
      sentence: 'Lists the apps that are linked to an account; an override is shown to the business of its app.',
      permission: 'management',
      input: Type.Object({}),
      output: linkListSchema(vocabulary),
      examples: {
        output: {
          data: [
            {
              ...(library_fields && { id: '3000000000000001', name: 'Shrub CRM' }),
              whatsapp_business_api_data: {
                id: '3000000000000001',
                name: 'Shrub CRM',
                link: 'http://127.0.0.1:8080/?app_id=3000000000000001',
              },
            },
          ],
        },
      },
      async run({ db, node, caller, publicUrl }) {
        const apps = await listLinkedApps(db, node)
        const data = apps.map(({ id, name, business_id, override_callback_uri }) => ({
          ...(library_fields && { id, name }),
          whatsapp_business_api_data: { id, name, link: `${publicUrl}/?app_id=${id}` },
          ...(override_callback_uri !== null && business_id === caller.business_id && { override_callback_uri }),
        }))
        return { data }
      },
    }),
    defineWrite({
      name: 'webhooks.unlink_app',
      method: 'DELETE',
      path: linksPath,
      sentence:
        "Ends the link of the token's app to an account, or as the account's owner that of any app, with every callback that it has for its numbers.",
      permission: 'management',
      input: makeEndedLinkSchema(vocabulary),
      output: successSchema,
      examples: { output: success },
      async run({ db, node, caller, clock, random }, { app_id = caller.app_id }) {
        const isOwn = app_id === caller.app_id
        if (!isOwn) checkMayUnlink(caller, node)
        await unlinkApp(db, node.id, app_id)
        // An app that leaves still gets earlier events; one that was removed does not.
        if (!isOwn) await endWaiting(db, { clock, random }, { account_id: node.id, app_id })
        return success
      },
    }),
  ]
}
