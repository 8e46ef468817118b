import { apiJs } from './api-js.ts'
import { cloudApiBot } from './cloud-api-bot.ts'
import { goClient } from './go-client.ts'
import { heyoo } from './heyoo.ts'
import { javaApi } from './java-api.ts'
import { netApi } from './net-api.ts'
import { netflie } from './netflie.ts'
import { nodeSdk } from './node-sdk.ts'
import { pywa } from './pywa.ts'
import type { LibraryRequests } from './request.ts'

/** Client libraries of the public platform, each as it speaks. */
export const libraries: readonly LibraryRequests[] = [
  nodeSdk,
  pywa,
  heyoo,
  cloudApiBot,
  apiJs,
  netflie,
  javaApi,
  goClient,
  netApi,
]
