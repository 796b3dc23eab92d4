/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What rt_speaker has for other modules. Sound goes to it as from any process: through the node
 * of its FIFO.
 */
#ifndef _RT_SPEAKER_H
#define _RT_SPEAKER_H

/**
 * rt_speaker_fifo - the number of the RT-FIFO that takes the sound
 *
 * Context: any.
 */
unsigned int rt_speaker_fifo(void);

/**
 * rt_speaker_reads_file - what is going to be written has a header, whatever raw says
 *
 * Until the FIFO is closed again.
 *
 * Context: Linux process that has the FIFO open for writing and has not written to it.
 */
void rt_speaker_reads_file(void);

/**
 * rt_speaker_stop - forget what is in the FIFO, and the rest of what is being written
 *
 * As a 1 written to control/stop. What is written by who opens the FIFO after this has returned
 * is heard.
 *
 * Context: Linux process; sleeps up to a tick.
 * Return: 0, or -EIO: no tick of the clock comes.
 */
int rt_speaker_stop(void);

#endif
