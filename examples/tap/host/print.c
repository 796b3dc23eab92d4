// SPDX-License-Identifier: GPL-2.0-only
/* What tactus-tapfile prints for programs, and for the reference in docs/tap-language.md. */
#include "tapfile.h"

static const char *const classes[TAP_CLASSES] = {
	[TAP_KEYSTROKE] = "keystroke", [TAP_INPUT] = "input", [TAP_FEEDBACK] = "feedback",
	[TAP_FEEDBACK2] = "feedback2", [TAP_THROUGH] = "through", [TAP_METRONOME] = "metronome",
	[TAP_PACING] = "pacing", [TAP_MASKING] = "masking", [TAP_SILENCE] = "silence",
	[TAP_TRIGGERED] = "trigger", [TAP_STARTED] = "start", [TAP_ENDED] = "end",
	[TAP_FIGURE] = "figure", [TAP_DONE] = "done", [TAP_REFUSED] = "refused",
};

static const char *const figures[TAP_FIGURES] = {
	[TAP_FIG_DURATION_NS] = "duration_ns", [TAP_FIG_PASSES] = "passes",
	[TAP_FIG_GAP_MEAN_NS] = "gap_mean_ns", [TAP_FIG_GAP_MAX_NS] = "gap_max_ns",
	[TAP_FIG_OUTPUTS] = "outputs", [TAP_FIG_LATE_MEAN_NS] = "late_mean_ns",
	[TAP_FIG_LATE_MAX_NS] = "late_max_ns", [TAP_FIG_WIRE_WAIT_MAX_NS] = "wire_wait_max_ns",
	[TAP_FIG_INPUTS] = "inputs", [TAP_FIG_KEYSTROKES] = "keystrokes",
	[TAP_FIG_BEATS] = "beats", [TAP_FIG_BYTES_IN] = "bytes_in",
	[TAP_FIG_BYTES_OUT] = "bytes_out", [TAP_FIG_BYTES_LOST] = "bytes_lost",
	[TAP_FIG_BYTES_BROKEN] = "bytes_broken", [TAP_FIG_SYSEX] = "sysex",
	[TAP_FIG_SYSEX_BYTES] = "sysex_bytes", [TAP_FIG_NOTES_REFUSED] = "notes_refused",
	[TAP_FIG_QUEUE_MAX] = "queue_max", [TAP_FIG_SILENCED] = "silenced",
	[TAP_FIG_RECORDS_LOST] = "records_lost",
};

static const char *const types[] = {
	[TAP_TYPE_INT] = "integer", [TAP_TYPE_TIME] = "time", [TAP_TYPE_ARRAY] = "array",
	[TAP_TYPE_STRING] = "string", [TAP_TYPE_END] = "pseudo",
};

static const char *const reasons[] = {
	[TAP_BY_TRIGGER] = "trigger", [TAP_BY_STOP] = "stop", [TAP_BY_FAULT] = "fault",
};

static const char *class_name(unsigned int class)
{
	return class && class < TAP_CLASSES ? classes[class] : "?";
}

bool print_event(const struct tap_record *r, FILE *to)
{
	fprintf(to, "%u %s %lld %lld %lld ", r->sequence, class_name(r->class),
		(long long)r->scheduled_ns, (long long)r->actual_ns, (long long)r->value);
	if (r->source == TAP_NO_SOURCE)
		fputs("- ", to);
	else
		fprintf(to, "%u ", r->source);
	fprintf(to, "%u %u", r->param, r->index);
	for (unsigned int i = 0; i < r->bytes; i++)
		fprintf(to, " %02x", r->msg[i]);
	return fputc('\n', to) != EOF;
}

static void text(const char *key, const char *s, FILE *to)
{
	fprintf(to, "\"%s\": \"", key);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', to);
		if (*s == '\t')
			fputs("\\t", to);
		else
			fputc(*s, to);
	}
	fputc('"', to);
}

/* @item(i, to) for each i with a comma between. */
static void each(unsigned int from, unsigned int end, void (*item)(unsigned int i, FILE *to),
		 FILE *to)
{
	for (unsigned int i = from; i < end; i++) {
		fputs(i == from ? "" : ",", to);
		fputs("\n    ", to);
		item(i, to);
	}
}

void print_json(const struct tapfile *f, FILE *to)
{
	const char *between = "";

	fputs("{\n  ", to);
	text("file", f->name, to);
	fputs(",\n  \"strings\": {", to);
	for (unsigned int p = TAP_P_ARRAYS_END; p < TAP_PARAMS; p++) {
		fputs(p == TAP_P_ARRAYS_END ? "" : ", ", to);
		text(tap_param_info[p].name, f->string[p - TAP_P_ARRAYS_END], to);
	}
	fputs("},\n  \"values\": {", to);
	for (unsigned int p = 1; p < TAP_P_SCALARS; p++)
		if (tap_param_info[p].type != TAP_TYPE_END) {
			fprintf(to, "%s\"%s\": %lld", between, tap_param_info[p].name,
				(long long)f->params.value[p]);
			between = ", ";
		}
	fputs("},\n  \"arrays\": {", to);
	for (unsigned int p = TAP_P_SCALARS; p < TAP_P_ARRAYS_END; p++) {
		const struct tap_list *list = &f->params.list[p - TAP_P_SCALARS];

		fprintf(to, "%s\"%s\": [", p == TAP_P_SCALARS ? "" : ", ", tap_param_info[p].name);
		for (unsigned int i = 0; i < list->count; i++)
			fprintf(to, "%s%d", i ? ", " : "", list->element[i]);
		fputs("]", to);
	}
	fputs("},\n  \"set\": [", to);
	between = "";
	for (unsigned int p = 1; p < TAP_PARAMS; p++)
		if (f->line[p]) {
			fprintf(to, "%s\"%s\"", between, tap_param_info[p].name);
			between = ", ";
		}
	fputs("],\n  \"triggers\": [", to);
	for (unsigned int i = 0; i < f->params.triggers; i++) {
		const struct tap_trigger *t = &f->params.trigger[i];

		fprintf(to, "%s\n    {\"number\": %u, \"type\": \"%c\", \"count\": %lld, "
			"\"param\": \"%s\", \"value\": %lld}", i ? "," : "", t->number,
			" KTM"[t->kind], (long long)t->count, tap_param_info[t->param].name,
			(long long)t->value);
	}
	fputs("]\n}\n", to);
}

static void describe_param(unsigned int p, FILE *to)
{
	const struct tap_param_info *info = &tap_param_info[p];

	fprintf(to, "{\"id\": %u, ", p);
	text("name", info->name, to);
	fputs(", ", to);
	text("type", types[info->type], to);
	if (info->type != TAP_TYPE_STRING && info->type != TAP_TYPE_END)
		fprintf(to, ", \"least\": %lld, \"most\": %lld", (long long)info->least,
			(long long)info->most);
	if (p < TAP_P_SCALARS && info->type != TAP_TYPE_END)
		fprintf(to, ", \"default\": %lld", (long long)info->preset);
	fputs(", ", to);
	text("help", info->help, to);
	fputs("}", to);
}

static void describe_class(unsigned int i, FILE *to)
{
	fprintf(to, "\"%u\": \"%s\"", i, classes[i]);
}

static void describe_figure(unsigned int i, FILE *to)
{
	fprintf(to, "\"%s\"", figures[i]);
}

static void describe_reason(unsigned int i, FILE *to)
{
	fprintf(to, "\"%u\": \"%s\"", i, reasons[i]);
}

void print_describe(FILE *to)
{
	fprintf(to, "{\n  \"magic\": %u,\n  \"record_bytes\": %zu,\n  \"command_bytes\": %zu",
		TAP_MAGIC, sizeof(struct tap_record), sizeof(struct tap_command));
	fputs(",\n  \"classes\": {", to);
	each(1, TAP_CLASSES, describe_class, to);
	fputs("},\n  \"figures\": [", to);
	each(0, TAP_FIGURES, describe_figure, to);
	fputs("],\n  \"reasons\": {", to);
	each(TAP_BY_TRIGGER, TAP_BY_FAULT + 1, describe_reason, to);
	fputs("},\n  \"parameters\": [", to);
	each(1, TAP_PARAMS, describe_param, to);
	fputs("]\n}\n", to);
}

static void ms(s64 ns, FILE *to)
{
	fprintf(to, "%lld", (long long)(ns / TAP_NS_PER_MS));
}

static void reference_row(unsigned int p, FILE *to)
{
	const struct tap_param_info *info = &tap_param_info[p];
	bool time = info->type == TAP_TYPE_TIME;
	const char *between = "";

	fprintf(to, "| `%s` | %s | ", info->name, time ? "ms" : types[info->type]);
	if (info->allowed) {
		for (s64 v = info->least; v <= info->most; v++)
			if (info->allowed >> v & 1) {
				fprintf(to, "%s%lld", between, (long long)v);
				between = ", ";
			}
	} else if (time) {
		ms(info->least, to);
		fputs(" to ", to);
		ms(info->most, to);
	} else if (info->type == TAP_TYPE_INT || info->type == TAP_TYPE_ARRAY) {
		fprintf(to, "%lld to %lld", (long long)info->least, (long long)info->most);
	}
	fputs(" | ", to);
	if (time)
		ms(info->preset, to);
	else if (info->type == TAP_TYPE_INT)
		fprintf(to, "%lld", (long long)info->preset);
	fprintf(to, " | %s |\n", info->help);
}

void print_reference(FILE *to)
{
	static const struct { const char *title; unsigned int end; } groups[] = {
		{ "The trial", TAP_P_FEED_ON }, { "Feedback", TAP_P_FEED2_ON },
		{ "Second feedback", TAP_P_MASK_ON }, { "Masking", TAP_P_METRON_ON },
		{ "Metronome", TAP_P_PACE_ON }, { "Pacing tones", TAP_P_SCALARS },
		{ "Arrays", TAP_P_ARRAYS_END }, { "Strings", TAP_PARAMS },
	};
	unsigned int p = 1;

	for (unsigned int i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		fprintf(to, "### %s\n\n| Name | Type | Values | Default | What |\n|---|---|---|---|---|\n",
			groups[i].title);
		for (; p < groups[i].end; p++)
			reference_row(p, to);
		if (p < TAP_PARAMS)
			fputc('\n', to);
	}
}
