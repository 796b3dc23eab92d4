/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases for the ring of texts, for the host and for KUnit; see heap_cases.h. */
static struct textring textring;

/* Text number @k: its length and bytes follow from @k. */
static unsigned int textring_text(u32 k, char *text)
{
	unsigned int length = k * 7919 % 253;

	for (unsigned int i = 0; i < length; i++)
		text[i] = 'a' + (k + i) % 26;
	text[length] = '\0';
	return length;
}

static void textring_case_in_order(void)
{
	char put[256], got[256];
	u32 sent = 0, taken = 0;

	memset(&textring, 0, sizeof(textring));
	/* Near the wrap of the free-running indices, too. */
	textring.head = textring.tail = -3u * TEXTRING_BYTES - 7;
	CHECK(!textring_get(&textring, got, sizeof(got)));
	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < round % 90; i++) {
			unsigned int length = textring_text(sent, put);

			if (textring_put(&textring, put, length))
				break;
			sent++;
		}
		for (int i = 0; i < round % 70; i++) {
			if (!textring_get(&textring, got, sizeof(got)))
				break;
			textring_text(taken++, put);
			CHECK_EQ(strcmp(put, got), 0);
		}
	}
	CHECK(sent > 10000);
	CHECK(textring.lost > 0);
}

static void textring_case_full(void)
{
	char text[256] = {}, got[256];
	u32 fit = 0;

	memset(&textring, 0, sizeof(textring));
	memset(text, 'x', 100);
	while (!textring_put(&textring, text, 100))
		fit++;
	CHECK_EQ(fit, TEXTRING_BYTES / 102);
	CHECK_EQ(textring.lost, 1);
	CHECK_EQ(textring_put(&textring, text, TEXTRING_BYTES - fit * 102 - 2), 0);
	CHECK_EQ(textring_put(&textring, text, 0), -ENOSPC);
	while (fit--) {
		CHECK(textring_get(&textring, got, sizeof(got)));
		CHECK_EQ(strlen(got), 100);
	}
	CHECK(textring_get(&textring, got, sizeof(got)));
	CHECK(!textring_get(&textring, got, sizeof(got)));
}

/* A reader with little room loses the end of a text, not the next one. */
static void textring_case_cut(void)
{
	char got[4];

	memset(&textring, 0, sizeof(textring));
	CHECK_EQ(textring_put(&textring, "abcdef", 6), 0);
	CHECK_EQ(textring_put(&textring, "g", 1), 0);
	CHECK(textring_get(&textring, got, sizeof(got)));
	CHECK_EQ(strcmp(got, "abc"), 0);
	CHECK(textring_get(&textring, got, sizeof(got)));
	CHECK_EQ(strcmp(got, "g"), 0);
}

/* Every case, for whoever runs them. */
#define TEXTRING_CASES(do)		\
	do(textring_case_in_order)	\
	do(textring_case_full)		\
	do(textring_case_cut)
