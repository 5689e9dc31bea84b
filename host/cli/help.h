#ifndef HOST_HELP_H
#define HOST_HELP_H
/* Texts of `heddle help`: help/COMMAND.txt follows the options of COMMAND, help/heddle.txt the list of commands. */
extern const char help_bench[], help_compare[], help_exec[], help_extract[], help_heddle[], help_inspect[], help_list[],
    help_plot[], help_record[], help_replay[], help_report[], help_reproduce[], help_results[], help_resume[],
    help_run[], help_sweep[], help_validate[], help_work[];
#endif
