/* Writes what `heddle validate` measured. */
#include "cmd_validate.h"
#include "host/report/outfile.h"

static bool write_json(cJSON *o, FILE *out) {
    char *text = o ? cJSON_Print(o) : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    return text != NULL;
}

enum heddle_status validate_write(const struct cli *c, const struct table *t, cJSON *o, bool *printed) {
    char err[512] = "the host is out of memory";
    const char *json = cli_value(c, "json"), *csv = cli_value(c, "csv");
    struct outfile files[2] = {{0}};
    bool fine = table_whole(t);
    if (fine && json)
        fine = outfile_open(&files[0], json, err, sizeof err) && write_json(o, files[0].stream) &&
               outfile_flush(&files[0], err, sizeof err);
    if (fine && csv) {
        fine = outfile_open(&files[1], csv, err, sizeof err);
        if (fine)
            table_csv(t, files[1].stream);
        fine = fine && outfile_flush(&files[1], err, sizeof err);
    }
    for (int i = 0; i < 2; i++) {
        fine = fine && outfile_commit(&files[i], err, sizeof err);
        outfile_discard(&files[i]);
    }
    cJSON_Delete(o);
    *printed = fine && !outfile_is_stdout(json) && !outfile_is_stdout(csv);
    if (*printed)
        table_print(t, stdout);
    return fine ? HEDDLE_OK : cli_fail(c, "%s", err);
}
