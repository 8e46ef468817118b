import { defineError, defineProblem } from '../../graph/define-error.ts'

export const idsUnknown = defineProblem({
  id: 'ids_unknown',
  text: '{ids} is not visible to this token as {kind}; check the ids.',
})
export const tokenWiderThanOperator = defineError({
  id: 'token_wider_than_operator',
  status: 403,
  text: 'A token must not see more than the operator who creates it; limit it to accounts or businesses that you see.',
})
export const limitsNeedOperator = defineProblem({
  id: 'limits_need_operator',
  text: 'they limit only operators; give the scope operator, or leave them out.',
})
export const tokenIsOfApp = defineError({
  id: 'token_is_of_app',
  status: 422,
  text: 'The token is that of app {app} by its secret, and must be ended with the secret; give the app a new one.',
})
export const expiryTwice = defineProblem({
  id: 'expiry_twice',
  text: 'it came together with expires_at; send one of them.',
})
export const notADuration = defineProblem({
  id: 'not_a_duration',
  text: 'it must be a duration such as 30m, 24h or 60d that ends before the year 10000.',
})
export const deliveriesUnknown = defineProblem({
  id: 'deliveries_unknown',
  text: '{ids} is not a delivery that this token sees; the list of deliveries has their ids.',
})
export const idsAndFilters = defineError({
  id: 'ids_and_filters',
  status: 400,
  text: 'ids: they came together with filters; send one of the two.',
})
export const noAppChange = defineError({
  id: 'no_app_change',
  status: 400,
  text: 'redirect_uris: there is nothing to change; send them, or require_appsecret_proof.',
})
export const nothingToReplay = defineError({
  id: 'nothing_to_replay',
  status: 400,
  text: 'ids: they are required; send those of the deliveries, or a filter such as state.',
})
export const deliveryWithdrawn = defineError({
  id: 'delivery_withdrawn',
  status: 422,
  text: "Delivery {id} is not sent again, because the app's business has no access to the account any more; leave it out.",
})
export const deliveryEmptied = defineError({
  id: 'delivery_emptied',
  status: 422,
  text: 'Delivery {id} is not sent again, because its content was removed: MESSAGE_BODY_KEEP is over, or the user was forgotten; leave it out.',
})
export const nowhereToSend = defineError({
  id: 'nowhere_to_send',
  status: 422,
  text: 'Delivery {id} has nowhere to go, because app {app_id} is not subscribed and linked to account {account_id} any more; give an address with to.',
})
export const laneActionUnclear = defineError({
  id: 'lane_action_unclear',
  status: 400,
  text: 'action: it must be pause or resume, and one of them.',
})
export const worldRefused = defineProblem({
  id: 'world_refused',
  text: 'it is refused, and nothing was changed; fix these places and send it again: {problems}.',
})
export const worldNeedsAll = defineError({
  id: 'world_needs_all',
  status: 403,
  text: 'A world file is applied by an operator who sees every tenant; use a token without limits.',
})
export const worldTooLarge = defineError({
  id: 'world_too_large',
  status: 400,
  text: 'The file has more than {max} bytes; apply it in parts.',
})
export const worldNotText = defineError({
  id: 'world_not_text',
  status: 400,
  text: 'The file is not text in UTF-8; send YAML or JSON.',
})
export const nothingHappened = defineError({
  id: 'nothing_happened',
  status: 408,
  text: 'Nothing of the type {type} that matches happened within {waited} s; wait again, or send since to include earlier records.',
})
export const othersHappened = defineError({
  id: 'others_happened',
  status: 408,
  text: 'Nothing of the type {type} that matches happened within {waited} s, but there was other news ({others}); wait again, or for one of these.',
})
export const filterNotForType = defineProblem({
  id: 'filter_not_for_type',
  text: 'items of the type {type} have none; leave it out, or wait for one of {types}.',
})
export const afterUnknown = defineProblem({
  id: 'after_unknown',
  text: 'it is not the id of an item of this type that is still known here; leave it out and send since.',
})
