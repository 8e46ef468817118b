import type { Row } from './graph/operation.ts'
import type { Vocabulary } from './graph/vocabulary.ts'
import { accountOperations } from './resources/account/operations.ts'
import { auditOperations } from './resources/audit/operations.ts'
import { botOperations } from './resources/bot/operations.ts'
import { callGatewayOperations } from './resources/calls/gateway.ts'
import { callOperations } from './resources/calls/operations.ts'
import { complianceOperations } from './resources/compliance/operations.ts'
import { encryptionOperations } from './resources/encryption/operations.ts'
import { groupGatewayOperations } from './resources/groups/gateway.ts'
import { groupOperations } from './resources/groups/operations.ts'
import { groupPages } from './resources/groups/pages.ts'
import { mediaDownloads } from './resources/media/download.ts'
import { mediaGatewayOperations } from './resources/media/gateway.ts'
import { mediaOperations } from './resources/media/operations.ts'
import { onboardingOperations } from './resources/onboarding/operations.ts'
import { phoneNumberGatewayOperations } from './resources/phone-numbers/gateway.ts'
import { numberLookupOperations } from './resources/phone-numbers/gateway-lookup.ts'
import { phoneNumberOperations } from './resources/phone-numbers/operations.ts'
import { portfolioOperations } from './resources/portfolio/operations.ts'
import { profileOperations } from './resources/profile/operations.ts'
import { profilePictures } from './resources/profile/pictures.ts'
import { qrCodeOperations } from './resources/qr-codes/operations.ts'
import { qrCodePages } from './resources/qr-codes/pages.ts'
import { scheduleOperations } from './resources/schedules/operations.ts'
import { serviceOperations } from './resources/service/operations.ts'
import { solutionOperations } from './resources/solutions/operations.ts'
import { uploadOperations } from './resources/uploads/operations.ts'
import { webhookOperations } from './resources/webhooks/operations.ts'

/** THE TABLE: every row of every door, chapter by chapter in the specification's order, in one vocabulary's names. */
export function buildOperations(words: Vocabulary): Row[] {
  return [
    ...callOperations(words),
    ...callGatewayOperations(),
    ...profileOperations(words),
    ...profilePictures(),
    ...uploadOperations(),
    ...accountOperations(words),
    ...encryptionOperations(words),
    ...groupOperations(words),
    ...groupGatewayOperations(),
    ...groupPages(),
    ...phoneNumberOperations(words),
    ...phoneNumberGatewayOperations(),
    ...numberLookupOperations(words),
    ...mediaOperations(words),
    ...mediaGatewayOperations(),
    ...mediaDownloads(),
    ...botOperations(),
    ...scheduleOperations(),
    ...qrCodeOperations(words),
    ...qrCodePages(),
    ...solutionOperations(words),
    ...onboardingOperations(),
    ...complianceOperations(words),
    ...portfolioOperations(),
    ...webhookOperations(words),
    ...auditOperations(),
    ...serviceOperations(),
  ]
}
